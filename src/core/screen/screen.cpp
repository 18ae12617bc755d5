// SPDX-License-Identifier: Apache-2.0
#include "d5/core/screen/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/process/launcher.hpp"

namespace d5 {
namespace {

int columns_of(int file_descriptor) {
  if (const char* text = std::getenv("COLUMNS"); text && std::atoi(text) > 0) {
    return std::atoi(text);
  }
  winsize size{};
  return ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Screen screen_of(int file_descriptor) {
  constexpr int kLeast = 40;
  const int columns = columns_of(file_descriptor);
  const bool colours =
      isatty(file_descriptor) && !std::getenv("NO_COLOR") && detail::launched_ranks() == 0;
  return {.width = columns > 0 ? std::max(columns, kLeast) : Screen{}.width,
          .colour = colours ? Colour::always : Colour::never};
}

}  // namespace d5
