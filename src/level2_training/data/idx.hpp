// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Bytes in one, two, three ... dimensions, as the IDX format of MNIST stores them.
struct IdxBytes {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> values;
  Artefact file;  ///< as it was read, compressed or not
};

/// Reads `folder`/`name`, or `name`.gz beside it, which must hold unsigned bytes in `rank`
/// dimensions. `content` is the word for messages: "images". `check` sees the dimensions that the
/// header promises, and throws for what they may not be, before anything is unpacked.
///
/// Throws: IoError where neither file can be read; FormatError with the file, the place and a way
/// out for a wrong magic number, a length that is not what the header says, or a broken stream, and
/// for a packed file whose size no data of the promised length has; Interrupted.
/// Allocates no more than the file can hold.
/// Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", file formats.
[[nodiscard]] IdxBytes read_idx(
    const std::string& folder, const std::string& name, int rank, const std::string& content,
    const Interrupt& interrupt = {},
    const std::function<void(const std::vector<std::int64_t>& dims)>& check = {});

}  // namespace d5::detail
