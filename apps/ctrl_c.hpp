// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::app {

/// Listens, from the first call on, for Ctrl-C, SIGTERM and a closing terminal. The first one stops
/// the run, and what was measured is printed and written. A second one kills the program at once.
[[nodiscard]] Interrupt ctrl_c();
/// Notes that another rank was interrupted and ended this one: from now on it counts as
/// interrupted.
void end_with_others();
/// Whether there was an interrupt.
[[nodiscard]] bool interrupted();
/// The shell's exit status for a program that the signal ended: 130 for Ctrl-C, 143 for SIGTERM.
/// SIGUSR1 is a rank's Ctrl-C: launchers pass it on, and not SIGINT.
[[nodiscard]] int interrupted_status();

}  // namespace d5::app
