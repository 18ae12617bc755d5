// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/raw_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "raw bytes are little endian");

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::size_t kMostRank = 32;

std::uint32_t length_at(std::string_view bytes) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  return length;
}

Tensor strings_of_raw(const std::string& who, const Shape& shape, std::string_view bytes) {
  const auto count = static_cast<std::size_t>(shape.elements());
  const auto fail = [&](std::size_t i) {
    return ShapeError(fmt::format("{}: its bytes end in element {} of {}", who, i, count));
  };
  if (count > bytes.size() / kLengthBytes) throw fail(bytes.size() / kLengthBytes);
  Tensor tensor = Tensor::empty(DType::string, shape);
  auto elements = tensor.span<std::string>();
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes.size() < kLengthBytes) throw fail(i);
    const std::size_t length = length_at(bytes);
    bytes.remove_prefix(kLengthBytes);
    if (bytes.size() < length) throw fail(i);
    elements[i] = bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) {
    throw ShapeError(
        fmt::format("{}: {} bytes are left behind {} elements", who, bytes.size(), count));
  }
  return tensor;
}

}  // namespace

std::size_t raw_size_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::string) return tensor.bytes();
  std::size_t size = 0;
  for (const std::string& element : tensor.span<std::string>()) {
    size += kLengthBytes + element.size();
  }
  return size;
}

void append_raw(const Tensor& tensor, std::string& bytes) {
  if (tensor.dtype() != DType::string) {
    bytes.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
    return;
  }
  for (const std::string& element : tensor.span<std::string>()) {
    const auto length = static_cast<std::uint32_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&length), kLengthBytes);
    bytes.append(element);
  }
}

void expect_sound_shape(const std::string& who, const Shape& shape) {
  if (shape.rank() > kMostRank || std::ranges::any_of(shape, [](auto size) { return size < 0; })) {
    throw ShapeError(fmt::format("{}: its shape has {} sizes, expected at most {}, none below 0",
                                 who, shape.rank(), kMostRank));
  }
  (void)shape.elements();  // throws above 2^63 - 1
}

Tensor tensor_of_raw(const std::string& who, DType dtype, const Shape& shape,
                     std::string_view bytes) {
  expect_sound_shape(who, shape);
  if (dtype == DType::string) return strings_of_raw(who, shape, bytes);
  const TensorDesc desc{dtype, shape};
  if (desc.bytes() != bytes.size()) {
    throw ShapeError(fmt::format("{}: {} bytes, but {} takes {}", who, bytes.size(),
                                 to_string(desc), desc.bytes()));
  }
  Tensor tensor = Tensor::empty(desc);
  if (!bytes.empty()) std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  if (dtype == DType::boolean) {  // any other byte than 0 and 1 is no bool
    auto* elements = static_cast<std::uint8_t*>(tensor.raw());
    std::transform(elements, elements + bytes.size(), elements,
                   [](std::uint8_t byte) { return std::uint8_t(byte != 0); });
  }
  return tensor;
}

}  // namespace d5::detail
