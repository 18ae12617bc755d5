// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

CollectiveSize size_of_call(const Communicator& ranks, const Tensor& data, int root = 0) {
  return {.rank = ranks.rank(),
          .ranks = ranks.size(),
          .elements = data.elements(),
          .element_bytes = std::int64_t(size_of(data.dtype())),
          .root = root};
}

/// Throws: ShapeError, TypeError.
Parts checked_parts(const std::string& who, const Communicator& ranks, const Tensor& all,
                    const Tensor& mine, const RankCounts& counts) {
  const Parts parts = counts.empty() ? Parts(RankCounts(std::size_t(ranks.size()), mine.elements()))
                                     : Parts(counts);
  if (all.dtype() != mine.dtype()) {
    throw TypeError(
        fmt::format("{} on rank {}: all is {} and mine {}; they must have the same type", who,
                    ranks.rank(), name_of(all.dtype()), name_of(mine.dtype())));
  }
  if (parts.size() == ranks.size() && parts.elements() == all.elements() &&
      parts[ranks.rank()].size() == mine.elements()) {
    return parts;
  }
  throw ShapeError(fmt::format(
      "{} on rank {}: all has {} elements and mine {}, in {} parts of {} together on {} ranks; "
      "all has a part for each rank, and mine is this rank's",
      who, ranks.rank(), all.elements(), mine.elements(), parts.size(), parts.elements(),
      ranks.size()));
}

Tensor flat(const Tensor& tensor) { return tensor.reshaped({tensor.elements()}); }
Tensor view(const Tensor& buffer, ElementRange range) {
  return buffer.slice(range.begin, range.end);
}

}  // namespace

std::unique_ptr<Request> PlannedAllReduce::start(Communicator& ranks, Tensor& data,
                                                 Reduction reduction) {
  const CollectiveSize size = size_of_call(ranks, data);
  const auto chunk = ranks.options() ? ranks.options()->resources.chunk_bytes : std::nullopt;
  auto chunked = chunk ? plan_in_chunks(size, *chunk) : std::nullopt;
  if (chunked) return start_plan(ranks, rounds_of(std::move(*chunked)), data, reduction, {}, chunk);
  return start_plan(ranks, rounds(size), data, reduction);
}

std::unique_ptr<Request> PlannedBroadcast::start(Communicator& ranks, Tensor& data, int root) {
  if (root < 0 || root >= ranks.size()) {
    throw ValueError(fmt::format("broadcast on rank {}: the root is {}; expected 0 to {}",
                                 ranks.rank(), root, ranks.size() - 1));
  }
  return start_plan(ranks, rounds_of(plan(size_of_call(ranks, data, root))), data);
}

std::unique_ptr<Request> PlannedReduceScatter::start(Communicator& ranks, const Tensor& all,
                                                     Tensor& mine, Reduction reduction,
                                                     const RankCounts& counts) {
  const Parts parts = checked_parts("reduce-scatter", ranks, all, mine, counts);
  Tensor work = ranks.scratch(flat(all).desc(), all);
  ranks.copy_local(work, flat(all));
  return start_plan(ranks, rounds_of(plan(ranks.rank(), parts)), work, reduction,
                    [&ranks, result = view(work, parts[ranks.rank()]),
                     target = flat(mine)]() mutable { ranks.copy_local(target, result); });
}

std::unique_ptr<Request> PlannedAllGather::start(Communicator& ranks, const Tensor& mine,
                                                 Tensor& all, const RankCounts& counts) {
  const Parts parts = checked_parts("all-gather", ranks, all, mine, counts);
  const int first = order_ == Order::from_mine ? ranks.rank() : 0;
  Tensor target = flat(all), work = first == 0 ? target : ranks.scratch(target.desc(), target);
  const Parts places = parts.rotated(first);
  Tensor own = view(work, places[ranks.rank() - first]);
  ranks.copy_local(own, flat(mine));
  std::function<void()> finish;
  if (first != 0) {
    finish = [=, &ranks] {
      for (int p = 0; p < parts.size(); ++p) {
        Tensor part = view(target, parts[first + p]);
        ranks.copy_local(part, view(work, places[p]));
      }
    };
  }
  return start_plan(ranks, rounds_of(plan(ranks.rank(), parts)), work, Reduction::sum,
                    std::move(finish));
}

}  // namespace d5
