// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace d5::detail {

/// Bytes of a vocabulary's entry, which a file writes with a printable character for each byte:
/// those of Latin-1 are themselves, the other 68 follow from U+0100 on, as "Ġ" for a space.
/// Nothing where the entry has a character of no byte.
///
/// Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), its code.
[[nodiscard]] std::optional<std::string> bytes_of_letters(std::string_view entry);

}  // namespace d5::detail
