// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// Text for HTML and SVG, between tags and within quotes: control characters as `printable_message`
/// writes them, then the five characters that mean something.
[[nodiscard]] std::string escaped(std::string_view text);

/// At most `most` characters; the last is an ellipsis where the text was longer.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// Characters, not bytes.
[[nodiscard]] std::size_t length_of(std::string_view text);

}  // namespace d5::detail
