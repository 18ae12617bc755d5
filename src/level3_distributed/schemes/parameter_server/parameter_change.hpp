// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// The change of parameters by a step of a worker's own optimizer, for adding to shared parameters.
class ParameterChange {
 public:
  /// `values`: the parameters, 1-D. Throws: TypeError for 16-bit types, in which small changes are
  /// lost.
  explicit ParameterChange(Tensor values) : values_(std::move(values)) {
    const DType dtype = values_.dtype();
    if (dtype == DType::float32 || dtype == DType::float64) return;
    throw TypeError("parameters are " + to_string(values_.desc()) +
                    ", whose changes are too small for that type; keep masters in float32 "
                    "(half-precision:masters=true, training.precision)");
  }
  /// Called before the step.
  void begin() { before_ = values_.copy(Device{}); }
  /// Called after the step: the change times `share`, on the host.
  [[nodiscard]] Tensor end(Communicator& ranks, double share) {
    ranks.scale_local(before_, -1);
    ranks.reduce_local(before_, values_.on_host());
    if (share != 1) ranks.scale_local(before_, share);
    return std::exchange(before_, Tensor());
  }

 private:
  Tensor values_, before_;
};

}  // namespace d5::detail
