// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace d5::detail {

/// To whom a rank pushes, and who pushes to it, in each step: along the edges of a file, or one
/// step after the other to the ranks 1, 2, 4, ... after it.
class PushGraph {
 public:
  /// Throws: as `read_edges`; ValueError where some rank does not reach all others.
  PushGraph(int rank, int ranks, const std::string& edge_file);
  [[nodiscard]] std::vector<int> to(std::int64_t step) const;
  [[nodiscard]] std::vector<int> from(std::int64_t step) const;

 private:
  [[nodiscard]] int distance(std::int64_t step) const;

  int rank_, ranks_;
  bool is_exponential_;
  std::vector<int> to_, from_;  // of a file
};

}  // namespace d5::detail
