// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// Reads an array in NumPy's file format .npy, versions 1 to 3, in either byte order. Element
/// types: booleans, integers, floats of 16 to 64 bits, complex numbers. Fortran order becomes
/// row-major.
///
/// Throws: IoError; FormatError for another kind of file; Unsupported for another element type;
/// MemoryError.
/// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
[[nodiscard]] Tensor read_npy(const std::string& path);
/// The header of a .npy file: description and position of the values.
struct NpyHeader {
  TensorDesc desc;
  bool is_fortran = false;  ///< the first dimension is contiguous, not the last
  std::size_t begin = 0;    ///< offset of the values in the file, in bytes
};
/// Parses the header and checks the length of the values, without reading them. `bytes` is the
/// whole file. Throws: as `read_npy`; Unsupported for big-endian values, which cannot be used in
/// place.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view bytes, const std::string& file);
/// `read_npy` from memory; `file` is the name in error messages.
[[nodiscard]] Tensor parse_npy(std::string_view bytes, const std::string& file);
/// Whether NumPy has this element type.
[[nodiscard]] bool fits_npy(DType dtype);
/// Writes version 1 of the format. Throws: Unsupported for element types that NumPy lacks
/// (bfloat16, strings).
[[nodiscard]] std::string to_npy(const Tensor& tensor);

}  // namespace d5
