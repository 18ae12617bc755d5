// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace d5 {

/// The bytes that words say: "512MiB" and "1.5 GiB" in powers of 1024, "2GB" in powers of 1000,
/// "4096" and "4096 B" as they are; at most 2^63 - 1. Fractions of a byte are cut off.
/// Throws: ValueError for anything else.
[[nodiscard]] std::size_t byte_count(const std::string& words);

/// The shortest words that `byte_count` reads back as `bytes`: "512MiB", "1000B".
[[nodiscard]] std::string byte_words(std::size_t bytes);

/// "32 KiB", "7.75 GiB", "-" for 0: of caches and memories, which come in powers of two.
[[nodiscard]] std::string memory_size(double bytes);

}  // namespace d5
