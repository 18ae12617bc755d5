// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

struct OwnedName {
  std::string framework, name;
};

/// Of "FRAMEWORK:NAME".
OwnedName owned_name(const std::string& name, char between, const char* what) {
  const auto place = name.find(between);
  if (place == std::string::npos) {
    throw ValueError(fmt::format(
        "{} '{}' is no framework's; expected FRAMEWORK{}NAME, of one that d5.add_framework added",
        what, printable(name), between));
  }
  return {name.substr(0, place), name.substr(place + 1)};
}

}  // namespace

void register_executor(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    const OwnedName own_name = owned_name(name, ':', "executor");
    add_to(framework(own_name.framework).part<ExecutorRegistry>(), own_name.name, summary, entry,
           [entry](const Network& network, const ExecutorOptions&, const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             const auto of = [](const py::object& made) {
               return expected_part<GraphExecutor>(made, "a d5.GraphExecutor");
             };
             return entry->make(own, of, py::make_tuple(Network(network)));
           });
  };
  part_kinds().add("executor", {.base = "GraphExecutor", .needs = 1, .add = add});
}

}  // namespace d5::python
