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

/// Calls `work`, which may take long. Python's signal handlers run in the meantime, whenever `work`
/// asks its interrupt, and at its end (a loop of short calls may run no bytecode). An exception of
/// a handler, such as KeyboardInterrupt, ends the work and is raised here. As everywhere in Python,
/// the main thread handles signals.
void long_call(const std::function<void(const Interrupt&)>& work, Gil gil = Gil::released);
/// For work that does not ask the interrupt, but runs `executor`: it ends between two nodes.
void long_call(GraphExecutor& executor, const std::function<void()>& work);
/// For work that must complete: the first Ctrl-C is kept from Python's hooks, and raised when the
/// work has ended, as its interrupt requested. A second one goes to Python.
void orderly_call(const std::function<void(const Interrupt&)>& work);

/// Call in a handler: throws an exception again that Python raised within d5's work.
/// KeyboardInterrupt and SystemExit, which are no Exceptions, are no failures of the work: they end
/// the long call, which raises them even if the work records a failure.
[[noreturn]] void pass_on(py::error_already_set& raised);

/// Calls Python from within d5's work. Throws: what it raises; Interrupted on one of d5's own
/// threads when the interpreter is about to end.
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
