// SPDX-License-Identifier: Apache-2.0
#include "apps/say.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace d5::app {

void say(std::string_view line) {
  // Avoids fmt::print, which throws.
  std::fputs(fmt::format("d5: {}\n", line).c_str(), stderr);
}

}  // namespace d5::app
