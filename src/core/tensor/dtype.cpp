// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/dtype.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "d5/core/entries/registry.hpp"

namespace d5 {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kDTypeNames = {
    "undefined",      "float32",    "uint8",          "int8",       "uint16",    "int16",
    "int32",          "int64",      "string",         "bool",       "float16",   "float64",
    "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
    "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};

template <class... Ts>
constexpr std::array<std::size_t, kDTypeCount> sizes(Types<Ts...>) {
  std::array<std::size_t, kDTypeCount> result{};
  ((result[std::size_t(dtype_of<Ts>)] = sizeof(Ts)), ...);
  return result;
}
constexpr auto kElementSizes = sizes(AllTypes{});

template <class... Ts>
bool contains(Types<Ts...>, DType dtype) {
  return ((dtype_of<Ts> == dtype) || ...);
}

}  // namespace

std::size_t size_of(DType dtype) { return kElementSizes.at(std::size_t(dtype)); }

int bits_of(DType dtype) {
  switch (dtype) {
    case DType::uint2:
    case DType::int2:
      return 2;
    case DType::uint4:
    case DType::int4:
    case DType::float4e2m1:
      return 4;
    case DType::float6e2m3:
    case DType::float6e3m2:
      return 6;
    default:
      return 8 * int(size_of(dtype));
  }
}

std::string_view name_of(DType dtype) {
  const auto index = std::size_t(dtype);
  return index < kDTypeNames.size() ? kDTypeNames[index] : "invalid";
}

DType dtype_from_name(std::string_view name) {
  for (std::size_t i = 1; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i] == name) return DType(i);
  }
  throw_unknown_name("element type", name, {kDTypeNames.begin() + 1, kDTypeNames.end()});
}

bool is_floating_point(DType dtype) {
  return contains(FloatTypes{}, dtype) || contains(Float8Types{}, dtype) ||
         contains(SubByteFloats{}, dtype);
}

bool is_integer(DType dtype) {
  return contains(IntegerTypes{}, dtype) || contains(SubByteIntegers{}, dtype);
}

void throw_type_not_supported(std::string_view who, DType dtype) {
  throw TypeError(fmt::format("{}: element type {} is not supported here", who, name_of(dtype)));
}

}  // namespace d5
