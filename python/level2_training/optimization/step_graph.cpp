// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/step_graph.hpp"

#include <fmt/format.h>

#include "bindings.hpp"
#include "lent_outputs.hpp"
#include "level1_network/network.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {

void bind_step_graph(py::module_& m) {
  add_update_operator();
  py::class_<StepGraph>(m, "StepGraph",
                        "A training step of an optimizer as one graph, with identical bits: "
                        "forward, loss, gradients, update.\n\n"
                        "    d5.StepGraph(optimizer).save(\"step.onnx\")\n"
                        "    step = d5.StepGraph.load(\"step.onnx\")\n"
                        "    step.step({\"image\": images, \"label\": labels})[\"loss\"]")
      .def(py::init<Optimizer&>(), py::arg("optimizer"),
           "Takes the optimizer in its current state; nothing is shared with it.")
      .def_static(
          "load",
          [](const Path& path, std::vector<std::string> frameworks) {
            return StepGraph::load(path.string(), {.frameworks = std::move(frameworks)});
          },
          py::arg("path"), py::arg("frameworks") = std::vector<std::string>{"reference"},
          py::call_guard<py::gil_scoped_release>(),
          "Reads an ONNX file's training information, of d5 or another tool.")
      .def(
          "save", [](const StepGraph& graph, const Path& path) { graph.save(path.string()); },
          py::arg("path"), py::call_guard<py::gil_scoped_release>(),
          "Writes an ONNX model for tests, with the step as its training information.")
      .def(
          "step",
          [](StepGraph& graph, const Values& values) {
            const Use use(&graph.executor(), "the step graph's executor");
            Batch batch;
            batch.values = to_values(values);
            const ValueMap* outputs = nullptr;
            long_call(graph.executor(), [&] { outputs = &graph.step(batch); });
            return named_outputs(copy_values(*outputs));
          },
          py::arg("values"), "Runs one step on arrays by name; returns the network's outputs.")
      .def_property_readonly("steps", &StepGraph::steps,
                             "Number of steps, including the optimizer's.")
      .def_property_readonly("loss", &StepGraph::loss, "Name of the output that is minimised.")
      .def_property_readonly("parameters", &StepGraph::parameters,
                             "Names of the trained parameters.")
      .def_property_readonly(
          "hyper_parameters",
          [](StepGraph& graph) {
            std::map<std::string, double> values;
            const HyperParameters& numbers = graph.hyper_parameters();
            for (const auto& name : numbers.names()) values[name] = numbers.at(name);
            return values;
          },
          "Hyper-parameters that may change from step to step, by name, of parameters in no group.")
      .def(
          "set_hyper_parameter",
          [](StepGraph& graph, const std::string& name, double value) {
            graph.hyper_parameters().set(name, value);
          },
          py::arg("name"), py::arg("value"),
          "Sets a hyper-parameter from the next step on; those of groups change in proportion.")
      .def_property_readonly(
          "network", [](const StepGraph& graph) -> Network& { return graph.network(); },
          py::return_value_policy::reference_internal,
          "The step itself, which overwrites its constants: fetch(name) is a parameter's value.")
      .def("inference", &StepGraph::inference,
           "The network without its loss, for tests, with the current values.")
      .def("__repr__", [](const StepGraph& graph) {
        return fmt::format("<d5.StepGraph of {}, {} steps>", describe(graph.network()),
                           graph.steps());
      });
}

}  // namespace d5::python
