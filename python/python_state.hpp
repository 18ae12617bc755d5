// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "answered.hpp"
#include "long_call.hpp"

namespace d5::python {

/// The state that a Python object carries from step to step: its `state()`, a dict of arrays.
[[nodiscard]] inline ValueMap python_state_of(const PythonReference& self) {
  return call_python([&] {
    const py::object said = self.object.attr("state")();
    return to_values(answered<py::dict>(said, self.object, "state()", "a dict of arrays by name"));
  });
}

/// Restores it by `restore(state)`.
inline void restore_python_state(const PythonReference& self, const ValueMap& state) {
  call_python([&] { self.object.attr("restore")(copy_values(state)); });
}

}  // namespace d5::python
