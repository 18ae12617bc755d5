// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/trials.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr std::array<std::int64_t, 10> kPrimes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29};

double within(const Recipe::Range& range, double share) {
  if (range.scale == Recipe::Range::Scale::linear) {
    return range.least + share * (range.most - range.least);
  }
  return range.least * std::pow(range.most / range.least, share);
}

}  // namespace

double radical_inverse(std::int64_t index, std::int64_t base) {
  if (index < 0 || base < 2) {
    throw ValueError(
        fmt::format("radical_inverse: index {}, base {}; expected 0 or more, and a "
                    "base of 2 or more",
                    index, base));
  }
  double result = 0, place = 1;
  for (; index > 0; index /= base) {
    place /= double(base);
    result += place * double(index % base);
  }
  return result;
}

std::vector<Recipe> trials_of(const Recipe& recipe, std::int64_t count) {
  const auto& ranges = recipe.ranges();
  if (ranges.empty() || ranges.size() > kPrimes.size()) {
    throw ValueError(
        fmt::format("recipe '{}' has {} ranges to tune within; expected 1 to {} "
                    "(ranges: {{optimizer.learning_rate: {{least: 0.001, most: 0.1}}}})",
                    printable(recipe.name()), ranges.size(), kPrimes.size()));
  }
  std::vector<Recipe> trials;
  for (std::int64_t trial = 1; trial <= count; ++trial) {
    Recipe& one = trials.emplace_back(recipe);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const double value = within(ranges[i], radical_inverse(trial, kPrimes[i]));
      one.set(fmt::format("{}={:.6g}", ranges[i].key, value));
    }
  }
  return trials;
}

}  // namespace d5
