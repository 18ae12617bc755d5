// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace

void Timeline::sort() {
  const auto order = [](const TraceRecord& a, const TraceRecord& b) {
    return std::tuple(a.begin_ns, -a.end_ns, a.id) < std::tuple(b.begin_ns, -b.end_ns, b.id);
  };
  std::ranges::stable_sort(records, order);
}

void Timeline::merge(Timeline other, const ClockOffset& clock) {
  for (auto& theirs : other.ranks) {
    for (const auto& mine : ranks) {
      if (mine.rank != theirs.rank) continue;
      throw ValueError(
          fmt::format("timeline: both have rank {}; start the trace of one of them as another rank",
                      mine.rank));
    }
    if (theirs.clock.drift == 0) theirs.clock.since_ns = clock.since_ns;
    theirs.clock.drift += clock.drift;
    theirs.clock.offset_ns += clock.offset_ns;
    theirs.clock.uncertainty_ns += clock.uncertainty_ns;
  }
  for (auto& record : other.records) {
    record.begin_ns = clock.moved(record.begin_ns);
    record.end_ns = clock.moved(record.end_ns);
  }
  append(ranks, std::move(other.ranks));
  append(lanes, std::move(other.lanes));
  append(records, std::move(other.records));
  sort();
}

}  // namespace d5
