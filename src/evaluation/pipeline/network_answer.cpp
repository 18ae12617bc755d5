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

void expect_batch(const ValueMap& outputs, std::int64_t batch) {
  for (const auto& [name, value] : outputs) {
    const Shape& shape = value.tensor().shape();
    if (shape.rank() > 0 && shape[0] == batch) continue;
    throw ShapeError(fmt::format("the network's output '{}' is {}, expected {} rows, one a sample",
                                 printable(name), to_string(value.tensor().desc()), batch));
  }
}

void expect_numbers(const ValueMap& answer) {
  for (const auto& [name, value] : answer) {
    const Tensor& tensor = value.tensor();
    if (tensor.dtype() == DType::float32) expect_no_nan<float>(tensor, name);
    if (tensor.dtype() == DType::float64) expect_no_nan<double>(tensor, name);
  }
}

}  // namespace d5::detail
