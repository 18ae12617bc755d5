// SPDX-License-Identifier: Apache-2.0
#include "onnx/packed.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::onnx::detail {

static_assert(std::endian::native == std::endian::little, "raw data is copied, not swapped");

bool is_packed(DType dtype) { return bits_of(dtype) < 8; }

std::size_t file_bytes(DType dtype, std::int64_t elements) {
  std::int64_t bits;
  if (__builtin_mul_overflow(elements, std::int64_t(bits_of(dtype)), &bits)) {
    throw ShapeError(
        fmt::format("{} elements of {} take more than 2^63 bits", elements, name_of(dtype)));
  }
  return std::size_t(bits / 8 + (bits % 8 != 0));
}

void unpack(std::span<const std::uint8_t> bytes, Tensor& tensor) {
  const std::int64_t count = tensor.elements();
  auto* to = static_cast<std::uint8_t*>(tensor.raw());
  if (tensor.dtype() == DType::boolean) {
    // A file may contain any byte, but a bool other than 0 or 1 is undefined behaviour.
    for (std::int64_t i = 0; i < count; ++i) to[i] = bytes[std::size_t(i)] != 0;
    return;
  }
  const int bits = bits_of(tensor.dtype());
  if (bits >= 8) {
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return;
  }
  const bool is_signed = tensor.dtype() == DType::int2 || tensor.dtype() == DType::int4;
  const unsigned mask = (1u << bits) - 1u, sign = 1u << (bits - 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t bit = i * bits;
    const auto at = std::size_t(bit / 8);
    unsigned two = bytes[at];  // a 6-bit element may extend to the next byte
    if (at + 1 < bytes.size()) two |= unsigned(bytes[at + 1]) << 8;
    const unsigned code = (two >> (bit % 8)) & mask;
    to[i] = std::uint8_t(is_signed && (code & sign) ? code | ~mask : code);
  }
}

std::string pack(const Tensor& tensor) {
  const auto* from = static_cast<const std::uint8_t*>(tensor.raw());
  const int bits = bits_of(tensor.dtype());
  std::string result(file_bytes(tensor.dtype(), tensor.elements()), '\0');
  if (bits >= 8) {
    if (!result.empty()) std::memcpy(result.data(), from, result.size());
    return result;
  }
  const unsigned mask = (1u << bits) - 1u;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::int64_t bit = i * bits;
    const unsigned two = (from[i] & mask) << (bit % 8);
    for (std::size_t at = std::size_t(bit / 8), part = 0; part < 2; ++part) {
      const unsigned byte = (two >> (8 * part)) & 0xffu;
      if (byte != 0) result[at + part] = char(static_cast<unsigned char>(result[at + part]) | byte);
    }
  }
  return result;
}

}  // namespace d5::onnx::detail
