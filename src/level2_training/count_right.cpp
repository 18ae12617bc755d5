// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/error.hpp"
#include "d5/level2_training/accuracy.hpp"

namespace d5 {

std::int64_t count_right(const Tensor& scores, const Tensor& labels) {
  if (scores.shape().rank() != 2 || labels.shape().rank() != 1 ||
      scores.shape()[0] != labels.shape()[0]) {
    throw ShapeError(fmt::format("accuracy: scores are {} and labels {}; expected NxC and N",
                                 to_string(scores.shape()), to_string(labels.shape())));
  }
  const std::int64_t rows = scores.shape()[0], classes = scores.shape()[1];
  std::int64_t right = 0;
  dispatch(RealTypes{}, scores.dtype(), "accuracy", [&]<class T>() {
    dispatch(Types<std::int64_t, std::int32_t>{}, labels.dtype(), "accuracy", [&]<class L>() {
      for (std::int64_t n = 0; n < rows; ++n) {
        const T* row = scores.data<T>() + n * classes;
        const bool numbers = std::none_of(row, row + classes, [](T x) { return std::isnan(x); });
        if (numbers && std::max_element(row, row + classes) - row == labels.data<L>()[n]) ++right;
      }
    });
  });
  return right;
}

}  // namespace d5
