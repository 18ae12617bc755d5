// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/push_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <set>

#include "d5/core/error.hpp"
#include "level3_distributed/schemes/mixing/edge_file.hpp"
#include "level3_distributed/schemes/mixing/reached_ranks.hpp"

namespace d5::detail {

PushGraph::PushGraph(int rank, int ranks, const std::string& edge_file)
    : rank_(rank), ranks_(ranks), is_exponential_(edge_file.empty()) {
  if (is_exponential_) return;
  const auto listed = read_edges(edge_file, ranks);
  const std::set<std::pair<int, int>> edges(listed.begin(), listed.end());
  const auto expect_all = [&](const std::vector<int>& reached, const char* way) {
    if (reached.size() == std::size_t(ranks)) return;
    throw ValueError(
        fmt::format("scheme push_sum: by the edges of '{}' only ranks {} {} rank 0; "
                    "there must be a way from each rank to each",
                    printable(edge_file), fmt::join(reached, ", "), way));
  };
  expect_all(reached_ranks(ranks, [&](int i, int j) { return edges.contains({i, j}); }),
             "are reached from");
  expect_all(reached_ranks(ranks, [&](int i, int j) { return edges.contains({j, i}); }), "reach");
  for (const auto& [i, j] : edges) {
    if (i == j) continue;
    if (i == rank) to_.push_back(j);
    if (j == rank) from_.push_back(i);
  }
}

int PushGraph::distance(std::int64_t step) const {
  const int distances = std::bit_width(unsigned(ranks_ - 1));
  return distances == 0 ? 0 : 1 << (step % distances);
}

std::vector<int> PushGraph::to(std::int64_t step) const {
  if (!is_exponential_) return to_;
  if (ranks_ == 1) return {};
  return {(rank_ + distance(step)) % ranks_};
}

std::vector<int> PushGraph::from(std::int64_t step) const {
  if (!is_exponential_) return from_;
  if (ranks_ == 1) return {};
  return {(rank_ - distance(step) + ranks_) % ranks_};
}

}  // namespace d5::detail
