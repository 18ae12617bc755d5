// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Distance from 1 to the next larger number: 2^-23 for float32. 0 for types other than floats.
[[nodiscard]] double ulp_of_one(DType dtype);

/// A copy of `tensor` as if each number had been rounded once more: one in twelve, at random, is
/// moved by a unit in the last place, up or down. That has the variance of rounding to nearest,
/// 1/12 of the unit's square. Tensors without floats are shared.
[[nodiscard]] Tensor nudged(const Tensor& tensor, RandomStream& random);
[[nodiscard]] ValueMap nudged(const ValueMap& values, RandomStream& random);

/// Nudges all parameters of a network, and restores them in the destructor.
class NudgedParameters {
 public:
  NudgedParameters(Network network, RandomStream& random);
  NudgedParameters(const NudgedParameters&) = delete;
  NudgedParameters& operator=(const NudgedParameters&) = delete;
  ~NudgedParameters();

 private:
  Network network_;
  std::vector<Tensor> values_;
};

}  // namespace d5
