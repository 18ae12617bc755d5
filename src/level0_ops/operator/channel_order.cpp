// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/channel_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

Term channels_moved(Composition& c, Term x, ChannelOrder to) {
  const Shape& shape = c.shape(x);
  if (shape.rank() < 2) {
    throw ShapeError(
        fmt::format("{}: an input is {}, expected a dimension of samples and one of "
                    "channels",
                    c.context().who(), to_string(shape)));
  }
  std::vector<std::int64_t> order(shape.rank());
  std::iota(order.begin(), order.end(), 0);
  const auto first = to == ChannelOrder::first ? order.end() - 1 : order.begin() + 2;
  std::rotate(order.begin() + 1, first, order.end());
  return c.add("Transpose", {x}, {{"perm", order}});
}

}  // namespace d5::detail
