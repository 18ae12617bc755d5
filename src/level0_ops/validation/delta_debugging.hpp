// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace d5 {

/// The ddmin algorithm: a 1-minimal subset of `items`, in order, for which `fails` is true, that
/// is, no single item can be removed. `fails(items)` must be true; `fails` may throw to end the
/// search, and stores the smallest subset.
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

/// The smallest number from 1 to `most` for which `fails` is true, by bisection, after trying 1;
/// `most` must fail. If `fails` is not monotonic, a number that fails although the one below does
/// not.
template <class Fails>
std::int64_t least_failing(std::int64_t most, const Fails& fails) {
  if (most <= 1 || fails(std::int64_t{1})) return std::min<std::int64_t>(most, 1);
  for (std::int64_t good = 1; most - good > 1;) {
    const std::int64_t middle = good + (most - good) / 2;
    (fails(middle) ? most : good) = middle;
  }
  return most;
}

}  // namespace d5
