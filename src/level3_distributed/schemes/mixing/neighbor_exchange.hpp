// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/mixing_matrix.hpp"

namespace d5::detail {

/// Exchanges vectors with all neighbours: a rank sends its vector to each neighbour and receives
/// theirs.
class NeighborExchange {
 public:
  NeighborExchange(std::shared_ptr<Communicator> ranks, MixingMatrix weights);

  /// Starts the exchange. `mine` must not change until `finish`.
  void start(const Tensor& mine);
  void move_on();
  /// Waits, and computes the change by mixing, shift = sum_j W_ij (x_j - x_i), added in rank order.
  void finish(Tensor& shift);
  [[nodiscard]] const MixingMatrix& weights() const { return weights_; }

 private:
  std::shared_ptr<Communicator> ranks_;
  MixingMatrix weights_;
  std::vector<int> neighbors_;
  int tag_;
  Tensor mine_;
  std::vector<Tensor> theirs_;
  std::vector<std::unique_ptr<Request>>
      calls_;  // the last member, because the calls use the others
};

}  // namespace d5::detail
