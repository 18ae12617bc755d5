// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pipeline/score_row.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/small_float.hpp"

namespace d5::detail {
namespace {

template <class T>
std::vector<double> converted_row(const Tensor& scores) {
  const T* values = scores.data<T>();
  std::vector<double> row;
  row.reserve(static_cast<std::size_t>(scores.elements()));
  for (std::int64_t i = 0; i < scores.elements(); ++i) row.push_back(double(float(values[i])));
  return row;
}

}  // namespace

std::vector<double> score_row(const Tensor& scores, const std::string& who) {
  switch (scores.dtype()) {
    case DType::float32:
      return converted_row<float>(scores);
    case DType::float16:
      return converted_row<Float16>(scores);
    case DType::float64: {
      const double* values = scores.data<double>();
      return {values, values + scores.elements()};
    }
    default:
      throw TypeError("answer step " + who + ": gets " + to_string(scores.desc()) +
                      ", expected float16, float32 or float64");
  }
}

}  // namespace d5::detail
