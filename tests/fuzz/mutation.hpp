// SPDX-License-Identifier: Apache-2.0
// Small random changes, of which fuzzers make their cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"

namespace d5::fuzz {

/// True once in `n` times.
[[nodiscard]] bool one_in(RandomStream& random, std::uint64_t n);

/// In [low, high].
[[nodiscard]] std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high);

template <class List>
[[nodiscard]] const auto& pick(RandomStream& random, const List& list) {
  return list[std::size_t(random.below(std::size(list)))];
}

/// Mostly a small one; sometimes at a border of a type, or one whose products overflow.
[[nodiscard]] std::int64_t some_integer(RandomStream& random);

/// Mostly an ordinary one; sometimes 0, tiny, huge, infinite or NaN.
[[nodiscard]] double some_real(RandomStream& random);

/// A name, a number, nothing, quotes, control characters, bytes that are not UTF-8.
[[nodiscard]] std::string some_text(RandomStream& random);

/// `text` with one bit changed: most of it means what it did.
[[nodiscard]] std::string with_flipped_bit(std::string text, RandomStream& random);

/// `text` with a few bytes changed, inserted, taken away or repeated elsewhere.
[[nodiscard]] std::string with_damage(std::string text, RandomStream& random);

/// `text` with one of the numbers in it replaced by `some_integer`.
[[nodiscard]] std::string with_other_number(const std::string& text, RandomStream& random);

}  // namespace d5::fuzz
