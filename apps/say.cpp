// SPDX-License-Identifier: Apache-2.0
#include "apps/say.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "d5/core/screen/screen.hpp"
#include "d5/core/tables/wrapped_text.hpp"

namespace d5::app {

void say(std::string_view line) {
  // Avoids fmt::print, which throws.
  std::fputs(fmt::format("d5: {}\n", line).c_str(), stderr);
}

void say_wrapped(std::string_view line) {
  const std::string text = fmt::format("d5: {}", line);
  std::fputs(wrapped(text, screen_of(STDERR_FILENO).width).c_str(), stderr);
}

}  // namespace d5::app
