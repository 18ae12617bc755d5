// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

namespace d5::python {

void bind_prediction(py::module_& /*m*/) { left_out().emplace_back("prediction"); }

}  // namespace d5::python
