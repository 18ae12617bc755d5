// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The bytes of a tensor in the protocol's raw form: little endian, row-major; each string follows
/// its length in 4 bytes.
[[nodiscard]] std::size_t raw_size_of(const Tensor& tensor);
void append_raw(const Tensor& tensor, std::string& bytes);

/// The inverse; nothing is allocated before the sizes agree. `who` is "input 'image'".
/// Throws: ShapeError for a number of bytes that is not the shape's.
[[nodiscard]] Tensor tensor_of_raw(const std::string& who, DType dtype, const Shape& shape,
                                   std::string_view bytes);

/// Throws: ShapeError for a negative size, more than 32 of them, or too many elements.
void expect_sound_shape(const std::string& who, const Shape& shape);

}  // namespace d5::detail
