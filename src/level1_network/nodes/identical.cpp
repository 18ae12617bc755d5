// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/identical.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "level1_network/nodes/same_as_any.hpp"

namespace d5 {
namespace {

bool identical(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

bool identical(const onnx::Attribute& a, const onnx::Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& value) {
        const T& other = std::get<T>(b);
        if constexpr (same_as_any<T, float, Tensor>) {
          return identical(value, other);
        } else if constexpr (same_as_any<T, std::vector<float>, std::vector<Tensor>>) {
          return std::ranges::equal(
              value, other, [](const auto& one, const auto& its) { return identical(one, its); });
        } else if constexpr (same_as_any<T, std::int64_t, std::string, std::vector<std::int64_t>,
                                         std::vector<std::string>>) {
          return value == other;
        } else {
          return false;
        }
      },
      a);
}

}  // namespace

bool identical(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::string) {
    return std::ranges::equal(a.span<std::string>(), b.span<std::string>());
  }
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

bool identical_attributes(const onnx::Node& a, const onnx::Node& b) {
  return std::ranges::equal(a.attributes, b.attributes, [](const auto& one, const auto& other) {
    return one.first == other.first && identical(one.second, other.second);
  });
}

}  // namespace d5
