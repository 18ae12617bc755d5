// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

// One function a file of this folder, which has its name.
void bind_client(py::module_& m);

}  // namespace d5::python
