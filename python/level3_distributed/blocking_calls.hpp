// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level3_distributed/started_calls.hpp"

namespace d5::python {

/// Binds the blocking calls of a communicator.
void bind_blocking_calls(CommunicatorClass& communicator);
/// Binds observers of all its calls: `add_event`, `remove_event`.
void bind_communication_events(py::module_& m, CommunicatorClass& communicator);

}  // namespace d5::python
