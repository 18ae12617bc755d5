// SPDX-License-Identifier: Apache-2.0
#include "d5/core/core.hpp"

#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::python {

void bind_core(py::module_& m) {
  m.def("threads", &threads, "Number of threads that d5 and every loaded framework compute with.");
  m.def("set_threads", &set_threads, py::arg("count"),
        "Sets the number of threads of d5 and of every framework, even of those that are loaded "
        "later.");
  m.def("pin_threads", &pin_threads, py::arg("first") = 0,
        "Pins each compute thread to one core, starting with the first-th that the process may "
        "use, and all other threads to the same cores, as `d5 op bench` and `net bench` do. "
        "Returns what it did: \"cores 0-1\", \"none: ...\".");
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
      "Names of all frameworks of this d5, even if their libraries are missing here: "
      "framework_words([\"all\"]) returns those that can be loaded.");
  m.def("_nearest_names", &nearest_names, py::arg("name"), py::arg("candidates"),
        "Up to three candidates that differ least from a name; none if all are far.");
  m.def(
      "set_memory_budget",
      [](std::int64_t bytes) {
        if (bytes < 1) {
          throw ValueError(
              fmt::format("d5.set_memory_budget: bytes is {}, expected at least 1", bytes));
        }
        set_memory_budget(bytes);
      },
      py::arg("bytes"),
      "Sets the memory limit of one tensor or one plan; more raises MemoryError before anything "
      "is allocated. Initially 80% of the machine's memory.");
}

}  // namespace d5::python
