// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace d5::app {

/// Prints "d5: LINE" on stderr. If stderr cannot be written, the line is lost and nothing else
/// happens.
void say(std::string_view line);
/// The same, wrapped to the width of the terminal.
void say_wrapped(std::string_view line);

}  // namespace d5::app
