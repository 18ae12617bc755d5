// SPDX-License-Identifier: Apache-2.0
#include "evaluation/accuracy/judged_tensor.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

const Tensor& judged_tensor(const std::string& name, const ValueMap& values,
                            const std::string& measure, const std::string& who) {
  if (const auto place = values.find(name); place != values.end()) return place->second.tensor();
  throw NotFound(
      fmt::format("accuracy {}: {} has no '{}', but {}", measure, who, name, value_names(values)));
}

std::string value_names(const ValueMap& values) {
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + printable(name);
  return names.empty() ? "nothing" : names;
}

std::vector<double> judged_numbers(const std::string& name, const ValueMap& values,
                                   const std::string& measure, const std::string& who) {
  const Tensor& tensor = judged_tensor(name, values, measure, who);
  const auto numbers = [&]<class T>(T) {
    const T* data = tensor.data<T>();
    return std::vector<double>(data, data + tensor.elements());
  };
  switch (tensor.dtype()) {
    case DType::float32:
      return numbers(float{});
    case DType::float64:
      return numbers(double{});
    case DType::int64:
      return numbers(std::int64_t{});
    case DType::int32:
      return numbers(std::int32_t{});
    case DType::uint8:
      return numbers(std::uint8_t{});
    default:
      throw TypeError(fmt::format("accuracy {}: '{}' is {}, expected real numbers", measure, name,
                                  to_string(tensor.desc())));
  }
}

}  // namespace d5::detail
