// SPDX-License-Identifier: Apache-2.0
#include "d5/core/environment.hpp"

#include "bindings.hpp"
#include "d5/core/results.hpp"

namespace d5::python {

void bind_environment(py::module_& m) {
  m.def(
      "_environment_json",
      [] {
        const py::gil_scoped_release release;
        return to_json(Results{environment(), {}});
      },
      "A results file without measurements.");
}

}  // namespace d5::python
