// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// Reads the arrays of a NumPy archive .npz by name: a zip file of .npy files, as written by
/// `numpy.savez` and `savez_compressed`. Other files in it are ignored.
///
/// Throws: as `read_npy`, with the archive's name and the array's; Unsupported for pickles (arrays
/// of objects), which are never executed; FormatError for a damaged archive or a duplicate name;
/// MemoryError if it unpacks to more than the memory budget; Interrupted.
[[nodiscard]] std::map<std::string, Tensor> read_npz(const std::string& path,
                                                     const Interrupt& interrupt = {});

}  // namespace d5
