// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutation.hpp"

#include <array>
#include <cctype>
#include <limits>

namespace d5::fuzz {

bool one_in(RandomStream& random, std::uint64_t n) { return random.below(n) == 0; }

std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + std::int64_t(random.below(std::uint64_t(high - low) + 1));
}

std::int64_t some_integer(RandomStream& random) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr std::array<std::int64_t, 16> kBorders = {Limits::min(),
                                                     Limits::min() + 1,
                                                     Limits::max(),
                                                     Limits::max() - 1,
                                                     std::int64_t{1} << 62,
                                                     std::int64_t{1} << 33,
                                                     -(std::int64_t{1} << 33),
                                                     std::int64_t{1} << 32,
                                                     std::numeric_limits<std::int32_t>::max(),
                                                     std::numeric_limits<std::int32_t>::min(),
                                                     std::int64_t{1} << 30,
                                                     256,
                                                     1000,
                                                     127,
                                                     -128,
                                                     64};
  return one_in(random, 4) ? pick(random, kBorders) : between(random, -3, 6);
}

double some_real(RandomStream& random) {
  using Limits = std::numeric_limits<double>;
  constexpr std::array<double, 10> kBorders = {0,
                                               -0.0,
                                               1e-45,
                                               1e-300,
                                               1e30,
                                               -1e30,
                                               1e300,
                                               Limits::infinity(),
                                               -Limits::infinity(),
                                               Limits::quiet_NaN()};
  return one_in(random, 3) ? pick(random, kBorders) : random.normal_double();
}

std::string some_text(RandomStream& random) {
  static const std::array<std::string, 15> kTexts = {
      "",     "x",       "0",      "-1",           "1e999",
      "true", "null",    "../x",   "a.b",          "'\"",
      "{}[]", "\x1b[2J", "a\nb\r", "\xc3\x28\xff", std::string(300, 'n')};
  return pick(random, kTexts);
}

std::string with_flipped_bit(std::string text, RandomStream& random) {
  if (text.empty()) return text;
  char& byte = text[std::size_t(random.below(text.size()))];
  byte = char(byte ^ (1 << random.below(8)));
  return text;
}

std::string with_damage(std::string text, RandomStream& random) {
  for (auto edits = 1 + random.below(4); edits > 0; --edits) {
    if (text.empty()) text = " ";
    const auto place = std::size_t(random.below(text.size()));
    const auto count = std::size_t(1 + random.below(8));
    switch (random.below(5)) {
      case 0:
        text[place] = char(random.below(256));
        break;
      case 1:
        text[place] = char(' ' + random.below(95));
        break;
      case 2:
        text.insert(place, count, text[place]);
        break;
      case 3:
        text.erase(place, count);
        break;
      default: {
        const std::string piece = text.substr(place, 1 + random.below(40));
        text.insert(std::size_t(random.below(text.size())), piece);
      }
    }
  }
  return text;
}

std::string with_other_number(const std::string& text, RandomStream& random) {
  std::vector<std::pair<std::size_t, std::size_t>> numbers;  // begin, end
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(i)) continue;
    const std::size_t begin = i > 0 && text[i - 1] == '-' ? i - 1 : i;
    while (is_digit(i)) ++i;
    numbers.emplace_back(begin, i);
  }
  if (numbers.empty()) return text;
  const auto [begin, end] = pick(random, numbers);
  return text.substr(0, begin) + std::to_string(some_integer(random)) + text.substr(end);
}

}  // namespace d5::fuzz
