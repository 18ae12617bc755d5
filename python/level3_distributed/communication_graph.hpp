// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// Communication in networks: its operators, groups, partitions, schedules and stages.
void bind_communication_graph(py::module_& m);

}  // namespace d5::python
