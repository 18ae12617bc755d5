// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/accuracy.hpp"

namespace d5 {

namespace {

/// Number of classes ranked before `label` by their scores.
template <class T>
std::int64_t place_of(std::int64_t label, const T* scores, std::int64_t classes) {
  std::int64_t place = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    place += scores[c] > scores[label] || (scores[c] == scores[label] && c < label) ? 1 : 0;
  }
  return place;
}

}  // namespace

std::int64_t count_right(const Tensor& scores, const Tensor& labels, std::int64_t k,
                         std::optional<std::int64_t> ignored) {
  const Shape &all = scores.shape(), &rows_of = labels.shape();
  const bool fits = rows_of.rank() >= 1 && all.rank() == rows_of.rank() + 1 &&
                    std::equal(rows_of.begin(), rows_of.end(), all.begin());
  if (!fits) {
    throw ShapeError(
        fmt::format("accuracy: scores are {} and labels {}; expected NxC and N, or NxTxC and NxT",
                    to_string(scores.shape()), to_string(labels.shape())));
  }
  const std::int64_t rows = labels.elements(), classes = all[all.rank() - 1];
  std::int64_t right = 0;
  dispatch(RealTypes{}, scores.dtype(), "accuracy", [&]<class T>() {
    dispatch(Types<std::int64_t, std::int32_t>{}, labels.dtype(), "accuracy", [&]<class L>() {
      for (std::int64_t n = 0; n < rows; ++n) {
        const T* row = scores.data<T>() + n * classes;
        const bool numbers = std::none_of(row, row + classes, [](T x) { return std::isnan(x); });
        const std::int64_t label = labels.data<L>()[n];
        if (!numbers || label < 0 || label >= classes || label == ignored) continue;
        if (place_of(label, row, classes) < k) ++right;
      }
    });
  });
  return right;
}

}  // namespace d5
