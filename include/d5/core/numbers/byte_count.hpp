// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace d5 {

/// Parses a number of bytes: "512MiB" and "1.5 GiB" in powers of 1024, "2GB" in powers of 1000,
/// "4096" and "4096 B"; at most 2^63 - 1. Fractions of a byte are truncated.
/// Throws: ValueError for anything else.
[[nodiscard]] std::size_t byte_count(const std::string& words);

/// The shortest text that `byte_count` parses to `bytes`: "512MiB", "1000B".
[[nodiscard]] std::string byte_words(std::size_t bytes);

/// The size of a cache or memory, in powers of 1024: "32 KiB", "7.75 GiB"; "-" for 0.
[[nodiscard]] std::string memory_size(double bytes);

}  // namespace d5
