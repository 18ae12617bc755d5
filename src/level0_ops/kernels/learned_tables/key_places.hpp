// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace d5::detail {

/// Index of keys in a list. Zeros of either sign are equal, and so are all NaN.
template <class Key>
class KeyPlaces {
 public:
  enum class Repeated { first, last };  ///< which of several equal keys is found

  explicit KeyPlaces(std::span<const Key> keys, Repeated repeated = Repeated::first) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto [place, is_new] = places_.try_emplace(canonical(keys[i]), std::int64_t(i));
      if (!is_new && repeated == Repeated::last) place->second = std::int64_t(i);
    }
  }

  /// The key's index; -1 if absent.
  [[nodiscard]] std::int64_t find(const Key& key) const {
    const auto place = places_.find(canonical(key));
    return place == places_.end() ? -1 : place->second;
  }

 private:
  static decltype(auto) canonical(const Key& key) {
    if constexpr (std::floating_point<Key>) {
      const double value = std::isnan(key) ? std::numeric_limits<double>::quiet_NaN() : double(key);
      return std::bit_cast<std::int64_t>(value + 0.0);  // -0 becomes 0
    } else {
      return (key);
    }
  }

  std::unordered_map<std::remove_cvref_t<decltype(canonical(std::declval<const Key&>()))>,
                     std::int64_t>
      places_;
};

}  // namespace d5::detail
