// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/classification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/serving/inference/inference_message.hpp"

namespace d5::detail {
namespace {

template <class T>
bool is_better_score(const T& a, const T& b) {
  if constexpr (!std::integral<T>) {
    if (std::isnan(float(a)) || std::isnan(float(b))) {
      return !std::isnan(float(a)) && std::isnan(float(b));
    }
  }
  return a > b;
}

template <class T>
std::string score_text(const T& score, std::int64_t index) {
  if constexpr (std::integral<T> || std::same_as<T, double>) {
    return fmt::format("{}:{}", score, index);
  } else {
    return fmt::format("{}:{}", float(score), index);  // the shortest text that reads as the same
  }
}

}  // namespace

Tensor best_classes(const std::string& output, const Tensor& scores, std::int64_t count) {
  const std::string who = fmt::format("output '{}'", printable(output));
  if (count < 1) {
    throw ValueError(fmt::format("{}: classification is {}, expected 1 or more", who, count));
  }
  const Shape& shape = scores.shape();
  if (shape.rank() == 0) {
    throw ShapeError(who + ": classification takes samples of scores, and it is a scalar");
  }
  if (scores.dtype() == DType::string || scores.dtype() == DType::boolean) {
    throw TypeError(fmt::format("{}: classification takes numbers, and it is {}", who,
                                inference_type_of(scores.dtype())));
  }
  const std::int64_t samples = shape[0];
  const std::int64_t classes = samples == 0 ? 0 : scores.elements() / samples;
  const std::int64_t best = std::min(count, classes);
  Tensor texts = Tensor::empty(DType::string, {samples, best});
  dispatch(NumberTypes{}, scores.dtype(), who, [&]<class T>() {
    std::vector<std::int64_t> order(std::size_t(classes), 0);
    std::string* text = texts.data<std::string>();
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const T* row = scores.data<T>() + sample * classes;
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::partial_sort(order.begin(), order.begin() + best, order.end(),
                        [&](std::int64_t a, std::int64_t b) {
                          if (is_better_score(row[a], row[b])) return true;
                          return !is_better_score(row[b], row[a]) && a < b;
                        });
      for (std::int64_t k = 0; k < best; ++k) *text++ = score_text(row[order[k]], order[k]);
    }
  });
  return texts;
}

}  // namespace d5::detail
