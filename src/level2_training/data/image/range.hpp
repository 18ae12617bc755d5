// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

namespace d5::detail {

/// [low, high), uniformly distributed.
struct Range {
  double low = 0, high = 0;
  [[nodiscard]] double draw(RandomStream& random) const {
    return low + (high - low) * random.uniform_double();
  }
};

/// The range given by an option's two numbers. Throws: ValueError if they are not two in order.
[[nodiscard]] inline Range range_of(std::string_view step, std::string_view option,
                                    const std::vector<double>& numbers) {
  if (numbers.size() == 2 && numbers[0] <= numbers[1]) return {numbers[0], numbers[1]};
  throw ValueError(fmt::format("step {}: option {} is [{}], expected the least and the most", step,
                               option, fmt::join(numbers, ", ")));
}

}  // namespace d5::detail
