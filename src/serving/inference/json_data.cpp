// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/json_data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/serving/inference/inference_message.hpp"
#include "serving/inference/raw_tensor.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

constexpr int kDeepest = 32;  // arrays in arrays
using JsonTypes = Join<Join<RealTypes, IntegerTypes>, Types<bool, std::string>>;

void expect_json_type(const std::string& who, DType dtype) {
  if (dtype != DType::float16 && dtype != DType::bfloat16) return;
  throw ValueError(fmt::format("{}: JSON has no {}; send and ask for binary data", who,
                               inference_type_of(dtype)));
}

/// Leaves of arrays in arrays, row-major.
class Leaves {
 public:
  Leaves(const std::string& who, std::size_t expected) : who_(who), expected_(expected) {}
  std::size_t count(const json& data, int depth = 0) const {
    if (!data.is_array()) return 1;
    if (depth == kDeepest) {
      throw ShapeError(fmt::format("{}: arrays in arrays, more than {} deep", who_, kDeepest));
    }
    std::size_t leaves = 0;
    for (const json& one : data) leaves += count(one, depth + 1);
    return leaves;
  }
  void expect(const json& data) const {
    if (const std::size_t found = count(data); found != expected_) {
      throw ShapeError(
          fmt::format("{}: {} elements, but its shape takes {}", who_, found, expected_));
    }
  }
  template <class Visit>
  static void each(const json& data, const Visit& visit) {
    if (!data.is_array()) return visit(data);
    for (const json& one : data) each(one, visit);
  }

 private:
  const std::string& who_;
  std::size_t expected_;
};

template <class T>
bool read_element(const json& from, T& element) {
  if constexpr (std::same_as<T, std::string>) {
    if (!from.is_string()) return false;
    element = from.get_ref<const std::string&>();
    return true;
  } else if constexpr (std::same_as<T, bool>) {
    if (!from.is_boolean()) return false;
    element = from.get<bool>();
    return true;
  } else if constexpr (std::integral<T>) {
    if (!from.is_number_integer()) return false;
    const bool fits = from.is_number_unsigned() ? std::in_range<T>(from.get<std::uint64_t>())
                                                : std::in_range<T>(from.get<std::int64_t>());
    if (fits) element = from.get<T>();
    return fits;
  } else {
    if (!from.is_number()) return false;
    element = static_cast<T>(from.get<double>());
    return std::isfinite(element);
  }
}

template <class T>
bool can_be_said(const T& element) {
  if constexpr (std::floating_point<T>) return std::isfinite(element);
  return true;
}

}  // namespace

Tensor tensor_of_json(const std::string& who, DType dtype, const Shape& shape, const json& data) {
  expect_sound_shape(who, shape);
  expect_json_type(who, dtype);
  if (!data.is_array()) throw TypeError(who + ": its data is no array");
  Leaves(who, std::size_t(shape.elements())).expect(data);
  Tensor tensor = Tensor::empty(dtype, shape);
  dispatch(JsonTypes{}, dtype, who, [&]<class T>() {
    T* element = tensor.data<T>();
    Leaves::each(data, [&](const json& from) {
      if (!read_element(from, *element)) {
        throw TypeError(fmt::format(
            "{}: element {} is {}, expected {}", who, element - tensor.data<T>(),
            printable(from.dump(-1, ' ', true).substr(0, 40)), inference_type_of(dtype)));
      }
      ++element;
    });
  });
  return tensor;
}

json json_of(const std::string& who, const Tensor& tensor) {
  expect_json_type(who, tensor.dtype());
  json data = json::array();
  dispatch(JsonTypes{}, tensor.dtype(), who, [&]<class T>() {
    for (const T& element : tensor.span<T>()) {
      if (!can_be_said(element)) {
        throw ValueError(fmt::format("{}: JSON cannot say {}; ask for binary data", who, element));
      }
      data.push_back(element);
    }
  });
  return data;
}

}  // namespace d5::detail
