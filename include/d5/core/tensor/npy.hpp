// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// A tensor in NumPy's file format .npy, versions 1 to 3: one array, in either byte order, of
/// booleans, integers, floats of 16 to 64 bits or complex numbers. Arrays in Fortran's order become
/// row-major.
///
/// Throws: IoError; FormatError for what is no such file; Unsupported for another element type;
/// MemoryError.
/// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
[[nodiscard]] Tensor read_npy(const std::string& path);
/// What a file says of its values, and where they begin.
struct NpyHeader {
  TensorDesc desc;
  bool is_fortran = false;  ///< the first dimension is contiguous, not the last
  std::size_t begin = 0;    ///< of the values, in bytes from the file's begin
};
/// Checks that the values are there, and reads none: `bytes` is the whole file. Throws: as
/// `read_npy`; Unsupported for big-endian values, which cannot be used where they lie.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view bytes, const std::string& file);
/// The same from memory; `file` names it in messages.
[[nodiscard]] Tensor parse_npy(std::string_view bytes, const std::string& file);
/// Whether NumPy has this element type.
[[nodiscard]] bool fits_npy(DType dtype);
/// Version 1. Throws: Unsupported for an element type that NumPy itself has not (bfloat16,
/// strings).
[[nodiscard]] std::string to_npy(const Tensor& tensor);

}  // namespace d5
