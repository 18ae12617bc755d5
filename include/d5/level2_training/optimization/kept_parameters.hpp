// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Copies of a network's parameters while others stand in their places, as in a test run.
///
///     kept_.keep(network);       // then: network.parameters()[i].value.copy_from(other)
///     kept_.give_back(network);  // as they were, bit for bit
class KeptParameters {
 public:
  /// Allocates the first time.
  void keep(Network& network);
  /// Does nothing unless they were kept.
  void give_back(Network& network);

 private:
  std::vector<Tensor> values_;  // where the parameters lie
  bool kept_ = false;
};

}  // namespace d5
