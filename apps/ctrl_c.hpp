// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::app {

/// What the first Ctrl-C ends, as do SIGTERM and a terminal that closes: runs stop, and what was
/// measured is printed and written. A second one kills the program at once. Listens from the first
/// call on.
[[nodiscard]] Interrupt ctrl_c();
/// Another rank was interrupted, and this one ended with it: from now on it counts as interrupted.
void end_with_others();
/// Whether there was one.
[[nodiscard]] bool interrupted();
/// The shell's word for a program that the signal ended: 130 for Ctrl-C, 143 for SIGTERM. SIGUSR1
/// is a rank's Ctrl-C: launchers pass it on, and not SIGINT.
[[nodiscard]] int interrupted_status();

}  // namespace d5::app
