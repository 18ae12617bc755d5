// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// Puts the mean of the ranks' parameters and running statistics into a network, temporarily for
/// tests or for good at the end of training. All functions are collectives.
class MeanModel {
 public:
  /// `network` and `ranks` must outlive this object.
  MeanModel(Network& network, Communicator& ranks) : network_(network), ranks_(ranks) {}

  /// Puts the mean into the network and saves its own values. No effect if it is lent already or
  /// was kept.
  void lend();
  /// Restores the network's own values, bit for bit.
  void take_back();
  /// Makes the mean permanent on all ranks.
  void keep();

 private:
  [[nodiscard]] std::vector<Tensor> values() const;

  Network& network_;
  Communicator& ranks_;
  std::vector<Tensor> own_;  // while the mean is lent
  bool kept_ = false;
};

}  // namespace d5::detail
