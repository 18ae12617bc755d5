// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/model_parallel/rank_grid.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

RankGrid::RankGrid(const std::string& option, std::int64_t parts, int ranks)
    : parts_(parts == 0 ? ranks : int(parts)), ranks_(ranks) {
  if (parts <= ranks && ranks % parts_ == 0) return;
  throw ValueError(
      fmt::format("{} is {}, but there are {} ranks, expected a multiple of it, the ranks of each "
                  "model; change either number",
                  option, parts, ranks));
}

}  // namespace d5::detail
