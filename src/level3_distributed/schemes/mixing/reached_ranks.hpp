// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace d5::detail {

/// The ranks that can be reached from rank 0 along edges, itself included; `has_edge(from, to)`.
template <class HasEdge>
[[nodiscard]] std::vector<int> reached_ranks(int ranks, const HasEdge& has_edge) {
  std::vector<int> reached{0};
  for (std::size_t k = 0; k < reached.size(); ++k) {
    for (int to = 0; to < ranks; ++to) {
      if (has_edge(reached[k], to) && std::ranges::find(reached, to) == reached.end()) {
        reached.push_back(to);
      }
    }
  }
  std::ranges::sort(reached);
  return reached;
}

}  // namespace d5::detail
