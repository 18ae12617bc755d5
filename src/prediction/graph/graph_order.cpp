// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_graph.hpp"

namespace d5 {

std::vector<OperationGraph::Id> OperationGraph::order() const {
  std::vector<std::size_t> waiting(nodes_.size());
  std::vector<Id> sorted;
  sorted.reserve(size());
  for (Id id = 0; id < nodes_.size(); ++id) {
    waiting[id] = nodes_[id].before.size();
    if (waiting[id] == 0 && !nodes_[id].removed) sorted.push_back(id);
  }
  for (std::size_t next = 0; next < sorted.size(); ++next) {
    for (const Id after : nodes_[sorted[next]].after) {
      if (--waiting[after] == 0) sorted.push_back(after);
    }
  }
  if (sorted.size() < size()) {
    throw ValueError(fmt::format("graph of operations '{}': {}; expected no cycle",
                                 printable(name_), circle(waiting)));
  }
  return sorted;
}

/// Describes a cycle. Each operation left waiting depends on a cycle, so following predecessors
/// finds one.
std::string OperationGraph::circle(const std::vector<std::size_t>& waiting) const {
  constexpr std::size_t kMostNamed = 16;
  Id id = 0;
  while (waiting[id] == 0) ++id;
  std::vector<Id> way;
  std::vector<std::size_t> place(nodes_.size(), kNone);
  while (place[id] == kNone) {
    place[id] = way.size();
    way.push_back(id);
    id = *std::ranges::find_if(nodes_[id].before, [&](Id each) { return waiting[each] > 0; });
  }
  way.erase(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(place[id]));
  std::ranges::reverse(way);  // in execution order
  std::string words = "'" + printable(nodes_[id].operation.name) + "'";
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (i == kMostNamed && way.size() > kMostNamed + 1) {
      return words + fmt::format(" -> ... and {} more, back to the first", way.size() - i);
    }
    words += " -> '" + printable(nodes_[way[i]].operation.name) + "'";
  }
  return words;
}

}  // namespace d5
