// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "bindings.hpp"
#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {
class GraphExecutor;
}

namespace d5::python {

enum class Gil { released, held };

/// Calls `work`, which may last. Python's signal handlers run meanwhile, wherever `work` asks its
/// interrupt, and at its end (a loop of short calls may run no bytecode): what one raises, such as
/// KeyboardInterrupt, ends the work and is raised here. As everywhere in Python, signals are the
/// main thread's.
void long_call(const std::function<void(const Interrupt&)>& work, Gil gil = Gil::released);
/// For work that asks nothing itself, but runs `executor`: it ends between two nodes.
void long_call(GraphExecutor& executor, const std::function<void()>& work);
/// For work that is to end whole: the first Ctrl-C is kept from Python's hooks, and raised when the
/// work has ended, as its interrupt told it to. A second one is Python's.
void orderly_call(const std::function<void(const Interrupt&)>& work);

/// In a handler: throws what Python raised within d5's work again. What is no Exception
/// (KeyboardInterrupt, SystemExit) is nobody's failure: it ends the long call too, which raises it
/// even if the work makes a failed record of it.
[[noreturn]] void pass_on(py::error_already_set& raised);

/// Calls Python from within d5's work. Throws: what it raises; Interrupted on a thread of d5's own
/// when the interpreter is about to end.
template <class F>
decltype(auto) call_python(const F& call) {
  const Visit visit;
  visit.expect_let_in();
  const py::gil_scoped_acquire gil;
  try {
    return call();
  } catch (py::error_already_set& raised) {
    pass_on(raised);
  }
}

}  // namespace d5::python
