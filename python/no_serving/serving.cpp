// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

namespace d5::python {

void bind_serving(py::module_& /*m*/) { left_out().emplace_back("serving"); }

}  // namespace d5::python
