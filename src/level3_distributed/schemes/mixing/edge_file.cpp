// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/edge_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"

namespace d5::detail {

std::vector<std::pair<int, int>> read_edges(const std::string& path, int ranks) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  std::istringstream text(read_file(path, kMostBytes));
  std::vector<std::pair<int, int>> edges;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    words.seekg(0);
    int from = 0, to = 0;
    if (!(words >> from >> to) || words >> word) {
      throw FormatError(fmt::format("{}:{}: '{}' is not an edge; expected two ranks: '0 3'",
                                    printable(path), number, printable(line)));
    }
    if (std::min(from, to) < 0 || std::max(from, to) >= ranks) {
      throw ValueError(fmt::format("{}:{}: edge {} {}, but there are ranks 0 to {}",
                                   printable(path), number, from, to, ranks - 1));
    }
    edges.emplace_back(from, to);
  }
  return edges;
}

}  // namespace d5::detail
