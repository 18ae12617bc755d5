// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level3_distributed/started_calls.hpp"

namespace d5::python {

/// The calls of a communicator that are over when they return.
void bind_blocking_calls(CommunicatorClass& communicator);
/// Those who hear of all its calls: `add_event`, `remove_event`.
void bind_communication_events(py::module_& m, CommunicatorClass& communicator);

}  // namespace d5::python
