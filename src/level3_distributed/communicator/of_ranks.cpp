// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/of_ranks.hpp"

namespace d5::detail {
namespace {

template <class T>
T reduced(Communicator& ranks, T mine, Reduction reduction) {
  Tensor all = Tensor::scalar(mine);
  ranks.all_reduce(all, reduction);
  return all.item<T>();
}

}  // namespace

double largest_of_ranks(Communicator& ranks, double mine) {
  return reduced(ranks, mine, Reduction::maximum);
}

double mean_of_ranks(Communicator& ranks, double mine) {
  return reduced(ranks, mine, Reduction::sum) / ranks.size();
}

bool any_of_ranks(Communicator& ranks, bool mine) {
  return reduced<std::int32_t>(ranks, mine ? 1 : 0, Reduction::maximum) != 0;
}

}  // namespace d5::detail
