// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// For JSON that somebody else wrote, before it is parsed: what copies or writes a parsed document
/// takes stack for each level, and a few megabytes of brackets take all there is.
/// Throws: FormatError for lists and objects in each other, more than 100 deep.
/// Source: RFC 8259, section 9.
void expect_shallow_json(std::string_view text, const std::string& who);

}  // namespace d5::detail
