// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// Binds communication in networks: operators, groups, partitions, schedules and stages.
void bind_communication_graph(py::module_& m);
/// Binds decorators of communicators, and memory windows.
void bind_communicator_decorators(py::module_& m);
void bind_memory_window(py::module_& m);
/// Binds checks and benchmarks of algorithms.
void bind_collective_checks(py::module_& m);

}  // namespace d5::python
