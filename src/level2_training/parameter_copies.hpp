// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/network.hpp"

namespace d5::detail {

/// Values of all parameters, put aside to come back bit for bit.
class ParameterCopies {
 public:
  /// Allocates the first time.
  void keep(Network& network);
  /// What was kept last. The network is the same.
  void put_back(Network& network) const;
  [[nodiscard]] const Tensor& operator[](std::size_t parameter) const { return values_[parameter]; }

 private:
  std::vector<Tensor> values_;  // where the parameters lie
};

/// from + share * (to - from) for each element, in `from`: of float32, or of float64 as `to`.
void move_towards(Tensor& from, const Tensor& to, double share);
/// Elements of `from` in the type of `to`, which may lie on a device.
void put(const Tensor& from, Tensor& to);

}  // namespace d5::detail
