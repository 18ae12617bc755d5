// SPDX-License-Identifier: Apache-2.0
#include "ov_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <openvino/core/type/element_type.hpp>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::openvino {
namespace {

using Kind = ov::element::Type_t;

/// Element types that both have and that the CPU computes with: OpenVINO converts float64 to
/// float32, and moves strings by the bytes of their std::string.
constexpr std::pair<DType, Kind> kTypes[] = {
    {DType::float32, Kind::f32},         {DType::float16, Kind::f16},
    {DType::bfloat16, Kind::bf16},       {DType::int8, Kind::i8},
    {DType::int16, Kind::i16},           {DType::int32, Kind::i32},
    {DType::int64, Kind::i64},           {DType::uint8, Kind::u8},
    {DType::uint16, Kind::u16},          {DType::uint32, Kind::u32},
    {DType::uint64, Kind::u64},          {DType::boolean, Kind::boolean},
    {DType::float8e4m3fn, Kind::f8e4m3}, {DType::float8e5m2, Kind::f8e5m2}};

}  // namespace

std::string refusal(const ValueDesc& desc) {
  if (!desc.is_tensor()) return fmt::format("values that are a {}", name_of(desc.kind));
  const DType dtype = desc.tensor.dtype;
  if (std::ranges::find(kTypes, dtype, &std::pair<DType, Kind>::first) != std::end(kTypes)) {
    return {};
  }
  return std::string(name_of(dtype));
}

ov::Tensor view_of(const Tensor& tensor) {
  const auto known = std::ranges::find(kTypes, tensor.dtype(), &std::pair<DType, Kind>::first);
  if (known == std::end(kTypes)) {
    throw Unsupported(fmt::format("OpenVINO does not take {}", name_of(tensor.dtype())));
  }
  // OpenVINO requires an address even for an empty tensor, and writes only to outputs.
  static std::int64_t nothing;
  void* data = tensor.elements() > 0 ? const_cast<void*>(tensor.raw()) : &nothing;
  return {known->second, ov::Shape(tensor.shape().begin(), tensor.shape().end()), data};
}

Tensor copy_of(const ov::Tensor& tensor) {
  const auto known =
      std::ranges::find(kTypes, Kind(tensor.get_element_type()), &std::pair<DType, Kind>::second);
  if (known == std::end(kTypes)) {
    throw Unsupported("OpenVINO gave " + tensor.get_element_type().to_string());
  }
  const ov::Shape shape = tensor.get_shape();
  Tensor result =
      Tensor::empty(known->first, Shape(std::vector<std::int64_t>(shape.begin(), shape.end())));
  if (result.elements() > 0) tensor.copy_to(view_of(result));
  return result;
}

}  // namespace d5::openvino
