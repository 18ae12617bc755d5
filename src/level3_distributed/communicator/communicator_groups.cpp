// SPDX-License-Identifier: Apache-2.0
// Groups of a communicator's ranks.
#include <fmt/ranges.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

std::shared_ptr<Communicator> Communicator::split(int color, int order) {
  CommunicationCall call{.kind = CallKind::split};
  count(call);
  auto group = do_split(std::max(color, -1), order);
  if (!group) return group;
  const Tensor mine = Tensor::scalar<std::int32_t>(outermost_rank(rank()));
  Tensor all = Tensor::empty(DType::int32, {group->size()});
  group->do_run({.kind = CallKind::all_gather, .input = mine, .output = all});
  const auto ranks = all.span<std::int32_t>();
  adopt(*group, fmt::format("{}/{}", name_, color), {ranks.begin(), ranks.end()});
  return group;
}

std::shared_ptr<Communicator> Communicator::group(const std::vector<int>& ranks) {
  const auto refuse = [&](const std::string& why) {
    throw ValueError(
        fmt::format("rank {}: a group of [{}]: {}", rank(), fmt::join(ranks, ", "), why));
  };
  std::vector<bool> in(static_cast<std::size_t>(size()));
  std::vector<int> outermost;
  for (const int member : ranks) {
    if (member < 0 || member >= size()) refuse(fmt::format("there are {} ranks", size()));
    if (in[static_cast<std::size_t>(member)]) refuse("a rank is listed twice");
    in[static_cast<std::size_t>(member)] = true;
    outermost.push_back(outermost_rank(member));
  }
  if (!in[static_cast<std::size_t>(rank())])
    refuse("this rank is not in it; only its ranks may call it");
  note_traffic("group", 0, 0);
  auto group = do_group(ranks);
  adopt(*group, fmt::format("{}/[{}]", name_, fmt::join(ranks, ", ")), std::move(outermost));
  return group;
}

std::shared_ptr<Communicator> Communicator::do_group(const std::vector<int>&) {
  throw Unsupported("over " + medium() +
                    " ranks cannot make a group without the others; use split");
}

void Communicator::adopt(Communicator& group, std::string name, std::vector<int> outermost_ranks) {
  group.name_ = std::move(name);
  group.parent_ = shared_from_this();
  group.outermost_ranks_ = std::move(outermost_ranks);
}

int Communicator::outermost_rank(int rank) const {
  return outermost_ranks_.empty() ? rank : outermost_ranks_.at(static_cast<std::size_t>(rank));
}

}  // namespace d5
