// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Saves a network's parameters while other values replace them, as in a test run.
///
///     kept_.keep(network);       // then: network.parameters()[i].value.copy_from(other)
///     kept_.give_back(network);  // as they were, bit for bit
class KeptParameters {
 public:
  /// Allocates the first time.
  void keep(Network& network);
  /// No effect if nothing was kept.
  void give_back(Network& network);

 private:
  std::vector<Tensor> values_;  // on the parameters' device
  bool kept_ = false;
};

}  // namespace d5
