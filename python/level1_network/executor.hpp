// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::python {

/// Throws: TypeError for a class, or a function, in the place of an observer.
void expect_object(const py::object& observer);
/// Throws: TypeError for an observer without hooks, with `words` if it is a d5.Event.
[[noreturn]] void throw_without_hooks(const py::object& event, const char* words);
/// The executor hooks of a Python object; null if it has none.
[[nodiscard]] std::shared_ptr<Event> execution_event(const py::object& object);

}  // namespace d5::python
