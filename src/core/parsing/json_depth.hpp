// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// Checks the nesting of untrusted JSON before parsing. Copying or writing a parsed document
/// recurses per level, so a few megabytes of brackets would overflow the stack. Throws: FormatError
/// for more than 100 nested lists and objects. Source: RFC 8259, section 9.
void expect_shallow_json(std::string_view text, const std::string& who);

}  // namespace d5::detail
