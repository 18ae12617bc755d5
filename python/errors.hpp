// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bindings.hpp"

namespace d5::python {

/// In a handler: throws what Python raised as d5's error of the same class (`Error` for what is not
/// d5's), with what was raised nested in it, which becomes its `__cause__` where Python sees it.
/// The message: `who`, the class unless it is d5's own, Python's message, and the place. What is no
/// Exception (KeyboardInterrupt, SystemExit) is thrown again as it is.
[[noreturn]] void throw_as_d5(py::error_already_set& raised, const std::string& who);

/// From now on who calls d5 is a program that has no exceptions of Python: what Python raises
/// within d5's work is `throw_as_d5`'s.
void serve_program();
[[nodiscard]] bool serves_program();

}  // namespace d5::python
