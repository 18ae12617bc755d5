// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/mixing_matrix.hpp"

namespace d5::detail {

/// Vectors of this rank and of its neighbours, on their way both ways. A rank sends and receives
/// its vector once for each neighbour.
class NeighborExchange {
 public:
  NeighborExchange(std::shared_ptr<Communicator> ranks, MixingMatrix weights);

  /// `mine` is not changed until `finish`.
  void start(const Tensor& mine);
  void move_on();
  /// shift = sum_j W_ij (x_j - x_i), added in the order of ranks: what mixing adds to this rank's.
  void finish(Tensor& shift);
  [[nodiscard]] const MixingMatrix& weights() const { return weights_; }

 private:
  std::shared_ptr<Communicator> ranks_;
  MixingMatrix weights_;
  std::vector<int> neighbors_;
  int tag_;
  Tensor mine_;
  std::vector<Tensor> theirs_;
  std::vector<std::unique_ptr<Request>> calls_;  // the last to be made, for they use the others
};

}  // namespace d5::detail
