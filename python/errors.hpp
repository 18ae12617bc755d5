// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bindings.hpp"

namespace d5::python {

/// Call in a handler. Throws a Python exception as d5's error of the same class (`Error` if it is
/// not d5's), with the exception nested in it, which becomes its `__cause__` in Python. The message
/// has `who`, the class unless it is d5's own, Python's message, and the place. A KeyboardInterrupt
/// or SystemExit, which are no Exceptions, is thrown again unchanged.
[[noreturn]] void throw_as_d5(py::error_already_set& raised, const std::string& who);

/// An exception of Python code that d5 called, which is raised in Python as it was. For rows and
/// logs its `what` is one line with the class, the message and the place, without the stack.
class RaisedInPython final : public py::error_already_set {
 public:
  /// Call with the GIL.
  explicit RaisedInPython(const py::error_already_set& raised);
  [[nodiscard]] const char* what() const noexcept override { return line_.c_str(); }

 private:
  std::string line_;
};

/// Marks d5's caller as a program without Python exceptions: `throw_as_d5` handles exceptions that
/// Python raises within d5's work.
void serve_program();
[[nodiscard]] bool serves_program();

}  // namespace d5::python
