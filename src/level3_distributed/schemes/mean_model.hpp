// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// The mean of what ranks have trained apart, parameters and running statistics, in a network in
/// the place of its own: what is tested, and what training ends with. All of it are collectives.
class MeanModel {
 public:
  /// Both outlive it.
  MeanModel(Network& network, Communicator& ranks) : network_(network), ranks_(ranks) {}

  /// The network has the mean; its own values are kept aside. No effect where it is lent already,
  /// or was kept.
  void lend();
  /// It has its own again, bit for bit.
  void take_back();
  /// The mean is its own from now on, on all ranks.
  void keep();

 private:
  [[nodiscard]] std::vector<Tensor> values() const;

  Network& network_;
  Communicator& ranks_;
  std::vector<Tensor> own_;  // while the mean is lent
  bool kept_ = false;
};

}  // namespace d5::detail
