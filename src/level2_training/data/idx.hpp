// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Bytes in one, two, three ... dimensions, in the IDX format of MNIST.
struct IdxBytes {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> values;
  Artefact file;  ///< as it was read, compressed or not
};

/// Reads `folder`/`name`, or `name`.gz beside it, which must hold unsigned bytes in `rank`
/// dimensions. `content` is a word for messages: "images". `check` gets the dimensions in the
/// header and throws for invalid ones, before anything is decompressed.
///
/// Throws: IoError if neither file can be read; FormatError with the file, the position and a way
/// out for a wrong magic number, a length that differs from the header, a broken stream, or a
/// compressed file of an implausible size; Interrupted.
///
/// Allocates no more than the file can hold.
/// Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", file formats.
[[nodiscard]] IdxBytes read_idx(
    const std::string& folder, const std::string& name, int rank, const std::string& content,
    const Interrupt& interrupt = {},
    const std::function<void(const std::vector<std::int64_t>& dims)>& check = {});

}  // namespace d5::detail
