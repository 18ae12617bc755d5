// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/neighbor_exchange.hpp"

#include <algorithm>

namespace d5::detail {

NeighborExchange::NeighborExchange(std::shared_ptr<Communicator> ranks, MixingMatrix weights)
    : ranks_(std::move(ranks)),
      weights_(std::move(weights)),
      neighbors_(weights_.neighbors(ranks_->rank())),
      tag_(ranks_->own_tag()),
      theirs_(neighbors_.size()) {}

void NeighborExchange::start(const Tensor& mine) {
  mine_ = mine;
  for (std::size_t n = 0; n < neighbors_.size(); ++n) {
    if (!theirs_[n].defined()) theirs_[n] = Tensor::empty(mine.dtype(), mine.shape());
    calls_.push_back(ranks_->start_receive(theirs_[n], neighbors_[n], tag_));
  }
  for (const int to : neighbors_) calls_.push_back(ranks_->start_send(mine_, to, tag_));
}

void NeighborExchange::move_on() {
  for (const auto& call : calls_) (void)call->done();
}

void NeighborExchange::finish(Tensor& shift) {
  for (const auto& call : calls_) call->wait();
  calls_.clear();
  dispatch(RealTypes{}, mine_.dtype(), "mixing of parameters", [&]<class T>() {
    const auto sums = shift.span<T>();
    std::ranges::fill(sums, T(0));
    const T* mine = mine_.data<T>();
    for (std::size_t n = 0; n < neighbors_.size(); ++n) {
      const T weight = T(weights_(ranks_->rank(), neighbors_[n]));
      const T* theirs = theirs_[n].data<T>();
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * (theirs[i] - mine[i]);
    }
  });
}

}  // namespace d5::detail
