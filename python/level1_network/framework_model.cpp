// SPDX-License-Identifier: Apache-2.0
#include "level1_network/framework_model.hpp"

#include <fmt/format.h>

#include <map>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/model_walk.hpp"
#include "level0_ops/planned_node.hpp"
#include "level0_ops/python_results.hpp"

namespace d5::python {
namespace {

/// The view of a model that a framework in Python receives, and may keep.
struct ModelPlan {
  ModelPlan(const onnx::Model& model, const ModelTarget& target)
      : name(model.graph.name),
        threads(target.threads),
        loss(target.loss),
        gradients(target.gradients) {
    const bool trains = !loss.empty();
    ModelWalk walk(model.graph,
                   {.mode = trains ? Mode::training : Mode::inference, .differentiable = trains});
    const auto keep_constant = [&](const std::string& tensor) {
      if (tensor.empty()) return;
      if (const Value* value = walk.constant(tensor)) constants[tensor] = *value;
    };
    for (const auto& input : model.graph.inputs) {
      inputs.push_back(input.name);
      descs[input.name] = walk.desc(input.name);
    }
    walk.visit([&](const PlanContext& node) {
      nodes.emplace_back(node);
      for (const auto& input : node.node().inputs) keep_constant(input);
      for (const auto& output : node.node().outputs) {
        if (!output.empty()) descs[output] = walk.desc(output);
      }
    });
    for (const auto& output : model.graph.outputs) {
      outputs.push_back(output.name);
      keep_constant(output.name);
    }
    for (const auto& [tensor, value] : constants) descs[tensor] = value.tensor().desc();
  }

  /// Throws: NotFound, with the nearest name.
  [[nodiscard]] const TensorDesc& desc(const std::string& tensor) const {
    if (const auto place = descs.find(tensor); place != descs.end()) return place->second;
    std::vector<std::string> names;
    for (const auto& known : descs) names.push_back(known.first);
    throw_unknown_name("tensor", tensor, names);
  }

  std::string name;
  std::vector<PlannedNode> nodes;
  std::vector<std::string> inputs, outputs;
  ValueMap constants;
  std::map<std::string, TensorDesc> descs;
  int threads;
  std::string loss;
  std::vector<std::string> gradients;
};

class PythonModel final : public CompiledModel {
 public:
  PythonModel(std::string who, py::object run) : who_(std::move(who)), run_(std::move(run)) {}

  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override {
    const Who who = [&] { return who_; };
    call_framework(who, [&] {
      const LeaseScope call("a run of a network");
      const PythonResults results(who, run_.object(to_list(inputs, call.lease())), outputs.size(),
                                  "result");
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (outputs[k]->is_tensor()) {
          results.write(k, outputs[k]->tensor());
        } else {
          *outputs[k] = results.tensor(k).copy();
        }
      }
    });
  }

 private:
  std::string who_;
  PythonReference run_;
};

}  // namespace

std::unique_ptr<CompiledModel> compile_model(const std::string& framework,
                                             const PythonReference& compile,
                                             const onnx::Model& model, const ModelTarget& target) {
  ModelPlan plan(model, target);
  const std::string who = fmt::format("{} of '{}'", framework, printable(model.graph.name));
  std::unique_ptr<CompiledModel> compiled;
  call_framework(
      [&] { return who; },
      [&] {
        py::object run = compile.object(py::cast(std::move(plan)));
        if (!PyCallable_Check(run.ptr())) {
          throw TypeError(fmt::format(
              "{}: compiling gave {}, expected a callable for a list of inputs", who, shown(run)));
        }
        compiled = std::make_unique<PythonModel>(who, std::move(run));
      });
  return compiled;
}

void bind_framework_model(py::module_& m) {
  py::class_<ModelPlan>(
      m, "ModelPlan",
      "View of a network that a framework compiles as a whole, for inputs of fixed sizes.")
      .def_readonly("name", &ModelPlan::name, "Name of the network.")
      .def_readonly("nodes", &ModelPlan::nodes,
                    "A d5.PlanContext per node, in an executable order; nodes that compute only "
                    "shapes have been computed.")
      .def_readonly("input_names", &ModelPlan::inputs, "Names in the order of a run's inputs.")
      .def_readonly("output_names", &ModelPlan::outputs, "Names in the order of a run's outputs.")
      .def_property_readonly(
          "constants", [](const ModelPlan& plan) { return from_values(plan.constants); },
          "Constants, and outputs that are known before the run, by name.")
      .def(
          "shape",
          [](const ModelPlan& plan, const std::string& tensor) {
            return dims_of(plan.desc(tensor));
          },
          py::arg("tensor"), "Shape of an input, a constant, or a node's output.")
      .def(
          "dtype",
          [](const ModelPlan& plan, const std::string& tensor) {
            return std::string(name_of(plan.desc(tensor).dtype));
          },
          py::arg("tensor"), "Element type of such a tensor: \"float32\".")
      .def_readonly("threads", &ModelPlan::threads, "Number of threads that a run may use.")
      .def_readonly("loss", &ModelPlan::loss,
                    "Output whose gradients a run returns after the outputs; empty: none.")
      .def_readonly("gradients", &ModelPlan::gradients,
                    "Tensors to differentiate by: inputs, constants, values between nodes.")
      .def("__repr__", [](const ModelPlan& plan) {
        return fmt::format("<d5.ModelPlan of {}: {} nodes>", printable(plan.name),
                           plan.nodes.size());
      });
}

}  // namespace d5::python
