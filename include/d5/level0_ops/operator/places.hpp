// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace d5 {

/// A set of an operator's inputs or outputs, by index. Indices from 63 on share one bit: only
/// variadic operators have that many, and treat all of them in the same way.
class Places {
 public:
  constexpr Places() = default;  ///< none
  constexpr Places(std::initializer_list<std::size_t> places) {
    for (const std::size_t place : places) add(place);
  }
  [[nodiscard]] static constexpr Places all() {
    Places result;
    result.bits_ = ~std::uint64_t{0};
    return result;
  }
  constexpr void add(std::size_t place) { bits_ |= bit(place); }
  [[nodiscard]] constexpr bool contains(std::size_t place) const {
    return (bits_ & bit(place)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const Places&) const = default;

 private:
  static constexpr std::uint64_t bit(std::size_t place) {
    return std::uint64_t{1} << std::min<std::size_t>(place, 63);
  }
  std::uint64_t bits_ = 0;
};

}  // namespace d5
