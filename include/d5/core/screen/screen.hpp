// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

enum class Colour { never, always };

/// Where text for people goes.
struct Screen {
  int width = 120;  ///< characters in a line
  Colour colour = Colour::never;
};

/// Of a file descriptor. The width: COLUMNS if it is set, the terminal's, otherwise 120. Colour:
/// for a terminal, unless NO_COLOR is set; never for a rank under mpirun, which lends all ranks a
/// terminal, wherever their output ends.
[[nodiscard]] Screen screen_of(int file_descriptor);

}  // namespace d5
