// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/interrupt.hpp"

namespace d5::app {

/// The shell's word for a program that SIGINT ended.
inline constexpr int kInterrupted = 130;

/// What the first Ctrl-C ends: runs stop, and what was measured is printed and written. A second
/// one kills the program at once. Listens from the first call on.
[[nodiscard]] Interrupt ctrl_c();
/// Whether there was one.
[[nodiscard]] bool interrupted();

}  // namespace d5::app
