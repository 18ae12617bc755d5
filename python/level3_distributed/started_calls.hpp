// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5::python {

using CommunicatorClass = py::class_<Communicator, std::shared_ptr<Communicator>>;

/// The calls of a communicator that are under way when they return, and algorithms by name.
void bind_started_calls(py::module_& m, CommunicatorClass& communicator);

}  // namespace d5::python
