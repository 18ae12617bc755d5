// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pipeline/network_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

template <class T>
void expect_no_nan(const Tensor& tensor, const std::string& name) {
  const T* data = tensor.data<T>();
  const T* end = data + tensor.elements();
  const T* place = std::find_if(data, end, [](T x) { return std::isnan(x); });
  if (place == end) return;
  throw NumericError(fmt::format("the network's output '{}' has NaN at element {} of {}",
                                 printable(name), place - data, tensor.elements()));
}

}  // namespace

void expect_batch(const std::string& output, const Tensor& tensor, std::int64_t axis,
                  std::int64_t batch) {
  const Shape& shape = tensor.shape();
  if (axis < 0 && batch == 1) return;
  const bool fits =
      axis >= 0 && axis < std::int64_t(shape.rank()) && shape[std::size_t(axis)] == batch;
  if (fits) return;
  throw ShapeError(fmt::format(
      "the network's output '{}' is {}, expected {} rows, one a sample, as dimension {}; if its "
      "batch is another dimension, or none (-1), give the output's batch_axis",
      printable(output), to_string(tensor.desc()), batch, axis));
}

void expect_numbers(const ValueMap& answer) {
  for (const auto& [name, value] : answer) {
    const Tensor& tensor = value.tensor();
    if (tensor.dtype() == DType::float32) expect_no_nan<float>(tensor, name);
    if (tensor.dtype() == DType::float64) expect_no_nan<double>(tensor, name);
  }
}

}  // namespace d5::detail
