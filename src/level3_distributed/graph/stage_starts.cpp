// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/graph/partition.hpp"

namespace d5 {

std::vector<std::size_t> stage_starts(std::span<const double> costs,
                                      std::span<const double> entering, int stages) {
  const std::size_t n = costs.size();
  if (entering.size() != n) {
    throw ShapeError(fmt::format(
        "stages: {} costs of nodes, but {} of cuts; expected equal numbers", n, entering.size()));
  }
  if (stages < 1 || std::size_t(stages) > n) {
    throw ValueError(fmt::format("stages: {} of {} nodes, expected 1 to {}: no stage may be empty",
                                 stages, n, n));
  }
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> before(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) before[i + 1] = before[i] + costs[i];
  // longest[s][e]: cost of the longest stage for the first e nodes in s + 1 stages; begin[s][e]:
  // start of the last of these stages
  const std::size_t k = std::size_t(stages);
  std::vector longest(k, std::vector<double>(n + 1, kNever));
  std::vector begin(k, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t e = 1; e <= n; ++e) longest[0][e] = before[e];
  for (std::size_t s = 1; s < k; ++s) {
    for (std::size_t e = s + 1; e <= n; ++e) {
      for (std::size_t b = s; b < e; ++b) {
        const double last = before[e] - before[b] + entering[b];
        const double time = std::max(longest[s - 1][b], last);
        if (time >= longest[s][e]) continue;
        longest[s][e] = time;
        begin[s][e] = b;
      }
    }
  }
  if (!std::isfinite(longest[k - 1][n])) {
    throw Unsupported(
        fmt::format("stages: {} stages of {} nodes are impossible, because too few places can be "
                    "cut: parameters are read on both sides, or a crossing value is not a tensor "
                    "of known shape; ask for fewer",
                    stages, n));
  }
  std::vector<std::size_t> starts(k, 0);
  std::size_t end = n;
  for (std::size_t s = k; s-- > 1;) end = starts[s] = begin[s][end];
  return starts;
}

}  // namespace d5
