// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

// One function a file of this folder.
void bind_evaluate(py::module_& m);
void bind_database(py::module_& m);
void bind_scenario(py::module_& m);
void bind_analysis(py::module_& m);

}  // namespace d5::python
