// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>

#include "bindings.hpp"
#include "d5/core/interrupt.hpp"
#include "d5/core/stop_on_signal.hpp"

namespace d5::python {

/// Calls `work` without the GIL. Ctrl-C interrupts it, and becomes Python's KeyboardInterrupt when
/// it has ended; a second one is Python's at once. As everywhere in Python, the main thread alone
/// is interrupted.
inline void interruptible(const std::function<void(const Interrupt&)>& work) {
  const auto threading = py::module_::import("threading");
  if (!threading.attr("current_thread")().is(threading.attr("main_thread")())) {
    const py::gil_scoped_release release;
    work({});
    return;
  }
  const StopOnSignal stop(SIGINT);
  {
    const py::gil_scoped_release release;
    work({.token = stop.token()});
  }
  if (!stop.token().stop_requested()) return;
  PyErr_SetInterrupt();
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace d5::python
