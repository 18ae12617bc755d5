// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

// One function a file of this folder, which has its name.
void bind_training_profile(py::module_& m);
void bind_scaling_prediction(py::module_& m);
void bind_operation_graph(py::module_& m);
void bind_overlap(py::module_& m);

}  // namespace d5::python
