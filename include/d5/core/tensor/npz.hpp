// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// The arrays of NumPy's kind of archive, .npz, by name: a zip file of .npy files, as
/// `numpy.savez` and `savez_compressed` write it. Other files in it are passed over.
///
/// Throws: as `read_npy`, with the archive's name and the array's; Unsupported for pickles (arrays
/// of objects), which are never run; FormatError for a damaged archive, and for a name that stands
/// in it twice; MemoryError where it unpacks to more than the memory budget; Interrupted.
[[nodiscard]] std::map<std::string, Tensor> read_npz(const std::string& path,
                                                     const Interrupt& interrupt = {});

}  // namespace d5
