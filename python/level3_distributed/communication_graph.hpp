// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// Communication in networks: its operators, groups, partitions, schedules and stages.
void bind_communication_graph(py::module_& m);
/// What is put around a communicator, and memory that ranks reach of each other.
void bind_communicator_decorators(py::module_& m);
void bind_memory_window(py::module_& m);
/// Whether algorithms are right, and how fast.
void bind_collective_checks(py::module_& m);

}  // namespace d5::python
