// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/plan/planned_memory.hpp"

#include <fmt/format.h>

#include "d5/core/entries/framework.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/plan/planning_report.hpp"
#include "level1_network/given_inputs.hpp"
#include "row_dicts.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

const char* word_of_block(PlannedMemory::Kind kind) {
  switch (kind) {
    case PlannedMemory::Kind::value:
      return "value";
    case PlannedMemory::Kind::gradient:
      return "gradient";
    case PlannedMemory::Kind::kept:
      return "kept";
    case PlannedMemory::Kind::scratch:
      return "scratch";
  }
  return "value";
}

RowDicts blocks_of_memory(const PlannedMemory& memory) {
  return rows_of(memory.blocks, [](Values& row, const PlannedMemory::Block& block) {
    row["name"] = block.name;
    row["kind"] = word_of_block(block.kind);
    row["device"] = to_string(block.device);
    row["bytes"] = block.bytes;
    row["offset"] = block.offset;
    row["begin"] = block.begin;
    row["end"] = block.end;
  });
}

PlannedMemory memory_of_plan(GraphExecutor& executor, const Values& inputs,
                             const std::string& loss) {
  const Use use(&executor, "the executor");
  const ValueMap given = to_values(inputs);
  const py::gil_scoped_release released;
  return plan_memory(executor, given, loss);
}

Values memory_prediction(GraphExecutor& executor, const Values& inputs, const std::string& loss) {
  const PlannedMemory memory = memory_of_plan(executor, inputs, loss);
  const MemoryPrediction all =
      predicted_memory(executor.network(), to_values(inputs), memory, loss);
  Values row;
  row["parameters"] = all.parameters;
  row["constants"] = all.constants;
  row["inputs"] = all.inputs;
  row["gradients"] = all.gradients;
  row["plan"] = all.plan;
  row["bytes"] = all.bytes();
  return row;
}

TextTable table_of_planning(const Path& model, const std::vector<std::string>& frameworks,
                            std::int64_t batch, const std::map<std::string, std::int64_t>& dims,
                            const Anything& inputs, const std::vector<std::string>& transforms) {
  const GivenInputs given = to_given_inputs(inputs);
  const py::gil_scoped_release released;
  return planning_table(model.string(), ExecutorWord(frameworks).text(),
                        {.batch = batch, .by_name = dims}, {}, transform_chain(transforms), given);
}

}  // namespace

void bind_planned_memory(py::module_& m) {
  py::class_<PlannedMemory>(
      m, "PlannedMemory",
      "Memory plan of an executor: place and lifetime of each tensor; time is counted in steps.")
      .def_readonly("steps", &PlannedMemory::steps, "Names of the nodes.")
      .def_property_readonly(
          "bytes", [](const PlannedMemory& memory) { return memory.bytes(); },
          "Bytes on the host, in whole lines of 64 bytes: what a memory limit counts.")
      .def("blocks", &blocks_of_memory,
           "A dict per block: name, kind (value, gradient, kept, scratch), device, bytes, offset, "
           "and the first and last step that need it.")
      .def(
          "plots", [](const PlannedMemory& memory) { return memory_plots(memory); },
          "A plot of bytes over steps, one per device.")
      .def("__repr__", [](const PlannedMemory& memory) {
        return fmt::format("<d5.PlannedMemory: {} blocks in {} bytes>", memory.blocks.size(),
                           memory.bytes());
      });
  m.def(
      "planned_memory", [](const GraphExecutor& executor) { return planned_memory(executor); },
      py::arg("executor").none(false), "Memory of the executor's last run or plan; empty before.");
  m.def("plan_memory", &memory_of_plan, py::arg("executor").none(false), py::arg("inputs"),
        py::arg("loss") = "",
        "Memory that a run with these inputs would use, without allocating it; with `loss`, of a "
        "training run.");
  m.def("predicted_memory", &memory_prediction, py::arg("executor").none(false), py::arg("inputs"),
        py::arg("loss") = "",
        "Bytes that such a run holds: parameters, constants, inputs, gradients, the plan, and all "
        "of them (bytes).");
  m.def("planning_table", &table_of_planning, py::arg("model"), py::kw_only(),
        py::arg("frameworks") = std::vector<std::string>{"reference"}, py::arg("batch") = 1,
        py::arg("dims") = std::map<std::string, std::int64_t>(), py::arg("inputs") = py::none(),
        py::arg("transforms") = std::vector<std::string>(),
        "Memory of each plan and the lower bound of any, for inference and training: `d5 net show "
        "--memory-plan`.");
}

}  // namespace d5::python
