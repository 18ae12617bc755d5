// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace d5::app {

/// "d5: LINE" on stderr. Where that cannot be written the line is lost, and nothing else.
void say(std::string_view line);

}  // namespace d5::app
