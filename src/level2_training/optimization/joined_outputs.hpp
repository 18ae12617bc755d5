// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/value.hpp"

namespace d5::detail {

/// Outputs of a batch that was run in pieces, as if it had been run whole.
class JoinedOutputs {
 public:
  /// Of a batch of `samples`.
  void begin(std::int64_t samples);
  /// Those of the samples from `first` on, `count` of them: where an output has as many in its
  /// dimension 0 they are put one behind another; a single real number is averaged over samples.
  /// Throws: Unsupported for any other output.
  void add(const ValueMap& outputs, std::int64_t first, std::int64_t count);
  [[nodiscard]] const ValueMap& all() const { return all_; }

 private:
  Tensor& room_for(const std::string& name, const TensorDesc& desc);
  std::int64_t samples_ = 0;
  ValueMap all_;
};

}  // namespace d5::detail
