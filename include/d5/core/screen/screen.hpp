// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

enum class Colour { never, always };

/// Properties of an output for people.
struct Screen {
  int width = 120;  ///< characters in a line
  Colour colour = Colour::never;
};

/// The screen of a file descriptor. Width: COLUMNS if set, else the terminal's, else 120. Colour:
/// for a terminal, unless NO_COLOR is set; never for a rank under mpirun, which gives every rank a
/// terminal, wherever its output goes.
[[nodiscard]] Screen screen_of(int file_descriptor);

}  // namespace d5
