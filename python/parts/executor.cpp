// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/framework.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

std::shared_ptr<GraphExecutor> executor_of(const py::object& made) {
  return expected_part<GraphExecutor>(made, "a d5.GraphExecutor");
}

}  // namespace

/// Adds executors of a framework in Python, "FRAMEWORK:NAME".
void register_executor(py::module_&) {
  const auto make = [](const PythonEntry& entry, const Network& network, const ExecutorOptions&,
                       const PythonOptions& own) {
    return entry.make(own, &executor_of, py::make_tuple(Network(network)));
  };
  const auto add = [make](const std::string& summary, const SharedEntry& entry) {
    const auto [owner, name] = owned_name(entry->name, ':', "executor");
    add_to(framework(owner).part<ExecutorRegistry>(), name, summary, entry, make);
  };
  part_kinds().add("executor", {.base = "GraphExecutor", .needs = 1, .add = add});
}

}  // namespace d5::python
