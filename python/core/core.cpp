// SPDX-License-Identifier: Apache-2.0
#include "d5/core/core.hpp"

#include "bindings.hpp"

namespace d5::python {

void bind_core(py::module_& m) {
  m.def("threads", &threads, "Threads that d5 and every loaded framework compute with.");
  m.def("set_threads", &set_threads, py::arg("count"));
  m.def(
      "frameworks",
      [] {
        std::vector<std::string> names;
        for (const auto& info : frameworks()) {
          if (info.reason.empty()) names.push_back(info.name);
        }
        return names;
      },
      py::call_guard<py::gil_scoped_release>(), "Names of the frameworks that can be used.");
  m.def("set_memory_budget", &set_memory_budget, py::arg("bytes"));
}

}  // namespace d5::python
