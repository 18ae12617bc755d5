// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bindings.hpp"
#include "long_call.hpp"

namespace d5::python {

/// A part's state as a checkpoint stores it: arrays by name. `who` begins messages: "Sgd.state()".
/// Call with the GIL. Throws: TypeError that names what is no array.
[[nodiscard]] ValueMap to_state(const py::handle& said, const std::string& who);

/// The state that a Python object carries from step to step: the result of its `state()`.
[[nodiscard]] ValueMap python_state_of(const PythonReference& self);

/// Throws: TypeError for a class that overrides one of `state` and `restore` of `base`, a class of
/// d5: a resumed training would go on without its state. Call with the GIL.
void expect_state_pair(const py::handle& self, const char* base);

/// Restores it by `restore(state)`.
inline void restore_python_state(const PythonReference& self, const ValueMap& state) {
  call_python([&] { self.object.attr("restore")(copy_values(state)); });
}

}  // namespace d5::python
