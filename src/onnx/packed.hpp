// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "d5/core/tensor/tensor.hpp"

/// Packing of sub-byte elements: dense in files, the first in the lowest bits, and one per byte in
/// memory. Source: ONNX, comments on `TensorProto.raw_data`.
namespace d5::onnx::detail {

/// The size of `elements` in a file, in bytes. Throws: ShapeError if they overflow.
[[nodiscard]] std::size_t file_bytes(DType dtype, std::int64_t elements);
/// Whether an element in a file is narrower than in memory.
[[nodiscard]] bool is_packed(DType dtype);

/// Fills `tensor`, of any type except string, from `bytes`, of the size `file_bytes`.
void unpack(std::span<const std::uint8_t> bytes, Tensor& tensor);
[[nodiscard]] std::string pack(const Tensor& tensor);

}  // namespace d5::onnx::detail
