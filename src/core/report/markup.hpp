// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// Escapes text for HTML and SVG, between tags and within quotes: control characters as in
/// `printable_message`, then the five special characters.
[[nodiscard]] std::string escaped(std::string_view text);

/// At most `most` characters; the last is an ellipsis if the text was longer.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// Length in characters, not bytes.
[[nodiscard]] std::size_t length_of(std::string_view text);

}  // namespace d5::detail
