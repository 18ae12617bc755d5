// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

// One function per file of this folder, with the file's name.
void bind_client(py::module_& m);

}  // namespace d5::python
