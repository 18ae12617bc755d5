// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "level1_network/network.hpp"
#include "level2_training/python_step_modifier.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

/// An update rule written in Python.
class PythonOptimizer final : public UpdateRuleOptimizer {
 public:
  PythonOptimizer(const py::object& self, std::shared_ptr<GraphExecutor> executor, std::string loss)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)),
        self_(self),
        new_input_(overrides(self, "Optimizer", "new_input")),
        prepare_param_(overrides(self, "Optimizer", "prepare_param")) {
    for (const char* needed : {"update_rule", "state", "restore"}) {
      if (overrides(self, "Optimizer", needed)) continue;
      throw TypeError(fmt::format(
          "the optimizer {} has no method {}; a checkpoint needs state(), which returns what the "
          "rule remembers as a dict of arrays, and restore(state)",
          std::string(py::str(py::type::of(self).attr("__name__"))), needed));
    }
  }

  void new_input() override {
    if (!new_input_) return;
    call_python([&] { self_.object.attr("new_input")(); });
  }
  void prepare_param(Parameter& parameter) override {
    if (!prepare_param_) return;
    call_python([&] { self_.object.attr("prepare_param")(Parameter(parameter)); });
  }
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    call_python(
        [&] { self_.object.attr("update_rule")(Tensor(gradient), Parameter(parameter), index); });
  }
  ValueMap rule_state() const override {
    return call_python([&] { return to_values(self_.object.attr("state")().cast<py::dict>()); });
  }
  void restore_rule(const ValueMap& state) override {
    call_python([&] { self_.object.attr("restore")(copy_values(state)); });
  }

 private:
  PythonReference self_;
  bool new_input_, prepare_param_;
};

/// A list, or one alone.
void add_modifiers(Optimizer& optimizer, const py::object& modifiers) {
  const bool is_one = py::isinstance<py::str>(modifiers) || py::isinstance<py::dict>(modifiers);
  const py::list all = is_one ? py::list(py::make_tuple(modifiers)) : py::list(modifiers);
  if (all.empty()) return;
  auto* three_step = dynamic_cast<ThreeStepOptimizer*>(&optimizer);
  if (!three_step) {
    throw Unsupported(
        "this optimizer is no optimizer in three steps, so that nothing can take part in its "
        "steps; leave its modifiers out, or choose another");
  }
  for (const py::handle& modifier : all) three_step->add(to_step_modifier(modifier));
}

Values step(Optimizer& optimizer, const Batch& batch) {
  const Use use(&optimizer.executor(), "the optimizer's executor");
  const ValueMap* outputs = nullptr;
  long_call(optimizer.executor(), [&] { outputs = &optimizer.step(batch); });
  return copy_values(*outputs);
}

}  // namespace

void bind_optimizer(py::module_& m) {
  py::class_<Optimizer, std::shared_ptr<Optimizer>>(m, "BoundOptimizer", "Trains a network.")
      .def(
          "step", [](Optimizer& optimizer, const Batch& batch) { return step(optimizer, batch); },
          py::arg("batch"), "One step on a sampler's batch; returns the network's outputs.")
      .def(
          "step",
          [](Optimizer& optimizer, const Values& values) {
            Batch batch;
            batch.values = to_values(values);
            for (const auto& [name, value] : batch.values) {
              if (value.is_tensor() && value.tensor().shape().rank() > 0) {
                batch.size = value.tensor().shape()[0];
              }
            }
            return step(optimizer, batch);
          },
          py::arg("values"), "One step on arrays by name.")
      .def_property_readonly(
          "hyper_parameters",
          [](Optimizer& optimizer) {
            std::map<std::string, double> values;
            const HyperParameters& numbers = optimizer.hyper_parameters();
            for (const auto& name : numbers.names()) values[name] = numbers.at(name);
            return values;
          },
          "What may change from step to step, by name; of parameters in no group.")
      .def(
          "set_hyper_parameter",
          [](Optimizer& optimizer, const std::string& name, double value) {
            optimizer.hyper_parameters().set(name, value);
          },
          py::arg("name"), py::arg("value"),
          "From the next step on; those of groups change in proportion.")
      .def_property_readonly(
          "network", [](Optimizer& optimizer) { return optimizer.executor().network(); },
          "That it trains.")
      .def_property_readonly(
          "refused_steps",
          [](Optimizer& optimizer) {
            const auto* three_step = dynamic_cast<ThreeStepOptimizer*>(&optimizer);
            return three_step ? three_step->refused_steps() : 0;
          },
          "Steps that a modifier refused, such as loss_scale one whose gradients overflowed.")
      .def("__repr__", [](Optimizer& optimizer) {
        return fmt::format("<d5.BoundOptimizer of {}>", describe(optimizer.executor().network()));
      });

  m.def(
      "optimizer",
      [](const Anything& which, const std::shared_ptr<GraphExecutor>& executor,
         const std::string& loss, const Options& options) -> std::shared_ptr<Optimizer> {
        py::kwargs own(options.attr("copy")());
        const py::object modifiers = own.attr("pop")("modifiers", py::tuple());
        const Settings settings = to_settings(own);
        const bool is_named = py::isinstance<py::str>(which);
        std::shared_ptr<Optimizer> optimizer;
        if (is_named) {
          optimizer = open_optimizer(which.cast<std::string>(), executor, loss, settings);
        } else {
          OptionList(settings.owned_by("optimizer in Python")).expect_all_known();
          optimizer = std::make_shared<PythonOptimizer>(which, executor, loss);
        }
        add_modifiers(*optimizer, modifiers);
        return optimizer;
      },
      py::arg("which"), py::arg("executor"), py::arg("loss") = "loss",
      "An optimizer by name (\"adam\", \"torch/adam\") with its options as keywords, or a "
      "d5.Optimizer written in Python. `modifiers` take part in every step: names, dicts with a "
      "name and settings, objects of d5.StepModifier. `schedules` is a dict from a hyper-parameter "
      "to a dict with a schedule's name and settings: {\"learning_rate\": {\"name\": \"cosine\", "
      "\"length\": 1000}}.");
  m.def("optimizers", [] { return optimizers().names(); });
  m.def("schedules", [] { return schedules().names(); });
  m.def("step_modifiers", [] { return step_modifiers().names(); });
}

}  // namespace d5::python
