// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace d5 {

/// The subset of `items`, in their order, that `fails` still and of which no item can go alone:
/// ddmin. `fails` is true for `items`; it may throw to end the search, and keeps the smallest.
///
/// Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002),
/// section 3.2.
template <class T, class Fails>
std::vector<T> smallest_failing(std::vector<T> items, const Fails& fails) {
  for (std::size_t pieces = 2; items.size() > 1;) {
    pieces = std::min(pieces, items.size());
    const auto begin = [&](std::size_t i) {
      return items.begin() + std::ptrdiff_t(i * items.size() / pieces);
    };
    bool smaller = false;
    for (std::size_t i = 0; i < pieces && !smaller; ++i) {
      std::vector<T> piece(begin(i), begin(i + 1));
      if (!fails(std::as_const(piece))) continue;
      items = std::move(piece);
      pieces = 2;
      smaller = true;
    }
    for (std::size_t i = 0; i < pieces && !smaller && pieces > 2; ++i) {
      std::vector<T> rest(items.begin(), begin(i));
      rest.insert(rest.end(), begin(i + 1), items.end());
      if (!fails(std::as_const(rest))) continue;
      items = std::move(rest);
      --pieces;
      smaller = true;
    }
    if (smaller) continue;
    if (pieces == items.size()) break;
    pieces *= 2;
  }
  return items;
}

}  // namespace d5
