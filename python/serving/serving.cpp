// SPDX-License-Identifier: Apache-2.0
#include "serving/serving.hpp"

namespace d5::python {

void bind_serving(py::module_& m) { bind_client(m); }

}  // namespace d5::python
