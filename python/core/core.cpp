// SPDX-License-Identifier: Apache-2.0
#include "d5/core/core.hpp"

#include "bindings.hpp"

namespace d5::python {

void bind_core(py::module_& m) {
  m.def("threads", &threads, "Threads that d5 and every loaded framework compute with.");
  m.def("set_threads", &set_threads, py::arg("count"),
        "So many threads for d5 and every framework, those that are loaded later, too.");
  m.def("pin_threads", &pin_threads, py::arg("first") = 0,
        "Binds the threads that compute to one core each, from the first-th that the process may "
        "use, and all others to the same cores, as `d5 op bench` and `net bench` do. Returns what "
        "was done: \"cores 0-1\", \"none: ...\".");
  m.def("pinning", &pinning, "What pin_threads did, or \"none\".");
  m.def(
      "frameworks",
      [] {
        std::vector<std::string> names;
        for (const auto& info : frameworks()) {
          if (info.reason.empty()) names.push_back(info.name);
        }
        return names;
      },
      py::call_guard<py::gil_scoped_release>(),
      "Names of the frameworks that this d5 has, also of those whose libraries are missing here: "
      "framework_words([\"all\"]) are the ones that can be loaded.");
  m.def("set_memory_budget", &set_memory_budget, py::arg("bytes"),
        "The most that one tensor or one plan may take; more raises MemoryError before anything is "
        "allocated. At first 80% of the machine's memory.");
}

}  // namespace d5::python
