// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "d5/core/tensor/value.hpp"
#include "d5/level2_training/optimization/loss_weight.hpp"

namespace d5::detail {

/// Outputs of a batch that was run in micro-batches, joined as if it had been run as a whole.
class JoinedOutputs {
 public:
  /// `network` defines the outputs, and the weight of a micro-batch's numbers.
  explicit JoinedOutputs(Network network) : network_(std::move(network)) {}
  /// Begins a batch of `samples`.
  void begin(std::int64_t samples);
  /// Adds the outputs of `count` samples from `first` on, which had these fields. Outputs with a
  /// sample in dimension 0 are concatenated; a real scalar is combined as a loss is (`LossWeight`).
  /// Throws: Unsupported for any other output.
  void add(const ValueMap& outputs, const ValueMap& fields, std::int64_t first, std::int64_t count);
  [[nodiscard]] const ValueMap& all() const { return all_; }

 private:
  /// A scalar of the batch, accumulated so far.
  struct Number {
    LossWeight weight;
    double sum = 0, weights = 0;
  };
  Tensor& room_for(const std::string& name, const TensorDesc& desc);
  void add_number(const std::string& name, const Tensor& here, const ValueMap& fields,
                  std::int64_t first, std::int64_t count);

  Network network_;
  std::int64_t samples_ = 0;
  ValueMap all_;
  std::map<std::string, Number, std::less<>> numbers_;
};

}  // namespace d5::detail
