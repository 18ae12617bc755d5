// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bindings.hpp"
#include "collected.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "declared_keywords.hpp"
#include "lent_outputs.hpp"
#include "level1_network/network.hpp"
#include "level2_training/data/lent_batch.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/python_optimizer.hpp"
#include "level2_training/optimization/python_rule.hpp"
#include "level2_training/optimization/python_schedule.hpp"
#include "level2_training/optimization/python_step_modifier.hpp"
#include "level2_training/optimization/read_gradients.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

ThreeStepOptimizer& three_steps(Optimizer& optimizer) {
  if (auto* it = dynamic_cast<ThreeStepOptimizer*>(&optimizer)) return *it;
  throw Unsupported(
      "this optimizer is not an optimizer in three steps, so its steps cannot be extended; leave "
      "its schedules and modifiers out, or choose another");
}

/// A list, or a single object.
void add_modifiers(Optimizer& optimizer, const py::object& modifiers) {
  const bool is_several =
      py::isinstance<py::list>(modifiers) || py::isinstance<py::tuple>(modifiers);
  const py::list all = is_several ? py::list(modifiers) : py::list(py::make_tuple(modifiers));
  for (const py::handle& modifier : all) three_steps(optimizer).add(to_step_modifier(modifier));
}

/// The objects, by hyper-parameter; values that settings can express stay.
py::dict take_schedules_in_python(py::kwargs& options) {
  py::dict taken;
  if (!options.contains("schedules") || !py::isinstance<py::dict>(options["schedules"])) {
    return taken;
  }
  const py::dict schedules(options["schedules"].attr("copy")());
  for (const auto& [number, schedule] : py::dict(options["schedules"])) {
    if (py::isinstance<py::dict>(schedule)) {
      (void)entry_choice(schedule, "a schedule", d5::schedules());  // or refuses it
    }
    if (py::isinstance<py::str>(schedule) || py::isinstance<py::dict>(schedule)) continue;
    taken[number] = schedule;
    schedules.attr("pop")(number);
  }
  options["schedules"] = schedules;
  return taken;
}

/// Hyper-parameters with schedules that settings express.
std::vector<std::string> names_of_schedules(const py::kwargs& options) {
  std::vector<std::string> names;
  if (!options.contains("schedules") || !py::isinstance<py::dict>(options["schedules"])) {
    return names;
  }
  for (const auto& [number, schedule] : py::dict(options["schedules"])) {
    names.push_back(number.cast<std::string>());
  }
  return names;
}

/// The optimizer of an object in Python, or of a rule's class.
std::shared_ptr<Optimizer> made_of(const Anything& which,
                                   const std::shared_ptr<GraphExecutor>& executor,
                                   const std::string& loss, const py::kwargs& options) {
  if (is_update_rule(which)) return optimizer_of_rule(which, executor, loss, options);
  auto optimizer = to_optimizer(which, executor, loss);
  OptionList(to_settings(options).owned_by("optimizer in Python")).expect_all_known();
  return optimizer;
}

template <auto Count>
std::int64_t steps(const Optimizer& optimizer) {
  const auto* three_step = dynamic_cast<const ThreeStepOptimizer*>(&optimizer);
  return three_step ? (three_step->*Count)() : 0;
}

void bind_three_steps(py::module_& m) {
  using Three = ThreeStepOptimizer;
  py::class_<Three, Optimizer, std::shared_ptr<Three>>(
      m, "BoundThreeStepOptimizer",
      "An optimizer whose step has parts, which a scheme with a step of its own calls in this "
      "order:\n\n"
      "    optimizer.begin_step(batch)\n"
      "    outputs = optimizer.run_gradients(batch)\n"
      "    if optimizer.begin_updates():                  # else the step is refused\n"
      "        for i, parameter in enumerate(optimizer.network.parameters):\n"
      "            optimizer.update(i)                    # by parameter.gradient, or one that is "
      "given\n"
      "        optimizer.end_step()\n\n"
      "Modifiers and schedules take part in them.",
      ended_without_gil())
      .def(
          "begin_step",
          [](Three& optimizer, const LentBatch& batch) {
            long_call(optimizer.executor(), [&] { optimizer.begin_step(*batch); });
          },
          py::arg("batch"), "Runs new_input, and prepare_param for each parameter.")
      .def(
          "run_gradients",
          [](Three& optimizer, const LentBatch& batch) {
            const ValueMap* outputs = nullptr;
            long_call(optimizer.executor(), [&] { outputs = &optimizer.run_gradients(*batch); });
            return named_outputs(copy_values(*outputs));
          },
          py::arg("batch"), "Runs forward and backward; returns the network's outputs.")
      .def(
          "share_of",
          [](Three& optimizer, const LentBatch& batch) {
            double share = 0;
            long_call([&](const Interrupt&) { share = optimizer.share_of(*batch); });
            return share;
          },
          py::arg("batch"), "Weight of this rank's loss and gradient of a batch among all ranks.")
      .def(
          "begin_updates",
          [](Three& optimizer) {
            bool goes_on = false;
            long_call([&](const Interrupt&) { goes_on = optimizer.begin_updates(); });
            return goes_on;
          },
          "Begins the updates. Returns False if a modifier refuses the step, which ends it.")
      .def(
          "update",
          [](Three& optimizer, std::size_t index, const Anything& gradient) {
            const Tensor given = gradient.is_none() ? Tensor() : to_tensor(gradient);
            long_call([&](const Interrupt&) {
              if (given.defined()) {
                optimizer.update(index, given);
              } else {
                optimizer.update(index);
              }
            });
          },
          py::arg("index"), py::arg("gradient") = py::none(),
          "Updates one parameter, by its gradient in the network or by the given one.")
      .def(
          "end_step",
          [](Three& optimizer) { long_call([&](const Interrupt&) { optimizer.end_step(); }); },
          "Ends the step after the last update; modifiers see its outputs. Raises ValueError if "
          "another part is due.");
}

/// Throws: NotFound for an entry that the optimizer would drop; its state stays. One in Python, and
/// that of a scheme on several ranks, refuse by themselves.
void restore(Optimizer& optimizer, const ValueMap& given) {
  if (dynamic_cast<HoldsPython*>(&optimizer) || dynamic_cast<DistributedOptimizer*>(&optimizer)) {
    return optimizer.restore(given);
  }
  const ValueMap before = optimizer.state();  // views of what restore changes
  ValueMap copies;
  for (const auto& [name, value] : before) {
    copies[name] = value.is_tensor() ? Value(value.tensor().copy()) : value;
  }
  optimizer.restore(given);
  std::vector<std::string> known;
  for (const auto& [name, value] : optimizer.state()) known.push_back(name);
  for (const auto& [name, value] : given) {
    if (std::ranges::find(known, name) != known.end()) continue;
    optimizer.restore(copies);
    throw_unknown_name("entry of the optimizer's state", name, known);
  }
}

Values step(Optimizer& optimizer, const Batch& batch) {
  const Use use(&optimizer.executor(), "the optimizer's executor");
  const ValueMap* outputs = nullptr;
  long_call(optimizer.executor(), [&] { outputs = &optimizer.step(batch); });
  return named_outputs(copy_values(*outputs));
}

void show_optimizer(const py::handle& self, Shown& shown) {
  shown.show_kept_by(self);
  const auto* python = dynamic_cast<const HoldsPython*>(self.cast<Optimizer*>());
  if (python && is_sole_owner<Optimizer>(self)) shown.show(python->held());
}

}  // namespace

void bind_optimizer(py::module_& m) {
  py::class_<Optimizer, std::shared_ptr<Optimizer>>(m, "BoundOptimizer", "Trains a network.",
                                                    seen_by_collector<&show_optimizer>(),
                                                    ended_without_gil())
      .def(
          "step",
          [](Optimizer& optimizer, const LentBatch& batch) { return step(optimizer, *batch); },
          py::arg("batch"), "Runs one step on a sampler's batch; returns the network's outputs.")
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
          py::arg("values"), "Runs one step on arrays by name.")
      .def_property_readonly(
          "hyper_parameters",
          [](Optimizer& optimizer) {
            std::map<std::string, double> values;
            const HyperParameters& numbers = optimizer.hyper_parameters();
            for (const auto& name : numbers.names()) values[name] = numbers.at(name);
            return values;
          },
          "Hyper-parameters that may change from step to step, by name, of parameters in no group.")
      .def(
          "set_hyper_parameter",
          [](Optimizer& optimizer, const std::string& name, double value) {
            optimizer.hyper_parameters().set(name, value);
          },
          py::arg("name"), py::arg("value"),
          "Sets a hyper-parameter from the next step on; those of groups change in proportion.")
      .def(
          "read_gradients", &read_gradients, py::arg("reader").none(true),
          "Calls reader(name, gradient, factor) in every step for each parameter's final gradient "
          "(summed over pieces and ranks), before anything clips, refuses or uses it. `gradient` "
          "is a view that is valid during the call, and counts `factor` times. Replaces an earlier "
          "reader; None ends it. Raises Unsupported if the optimizer does not expose gradients. "
          "The "
          "metric gradient_norm reads them, too: Trainer.run refuses both with a ValueError.")
      .def_property_readonly(
          "network",
          [](Optimizer& optimizer) -> Network& { return optimizer.executor().network(); },
          py::return_value_policy::reference_internal, "The network that is trained.")
      .def_property_readonly(
          "executor", [](Optimizer& optimizer) { return &optimizer.executor(); },
          py::return_value_policy::reference_internal, "The executor that runs the training.")
      .def_property_readonly("loss", &Optimizer::loss, "The output that it minimises.")
      .def(
          "state",
          [](const Optimizer& optimizer) {
            ValueMap state;
            long_call([&](const Interrupt&) { state = optimizer.state(); });
            return copy_values(state);
          },
          "State needed to resume besides the parameters, including its modifiers': copies by "
          "name.")
      .def(
          "restore",
          [](Optimizer& optimizer, const Values& state) {
            const Use use(&optimizer.executor(), "the optimizer's executor");
            const ValueMap given = to_values(state);
            long_call([&](const Interrupt&) { restore(optimizer, given); });
          },
          py::arg("state"), "Restores the state of an optimizer that was made in the same way.")
      .def("begin_test", &Optimizer::begin_test, py::call_guard<py::gil_scoped_release>(),
           "Lends the network the parameters for test runs, such as an average.")
      .def("end_test", &Optimizer::end_test, py::call_guard<py::gil_scoped_release>(),
           "Restores the trained parameters, bit for bit.")
      .def_property_readonly("steps", &steps<&ThreeStepOptimizer::steps>,
                             "Number of steps, including refused ones.")
      .def_property_readonly("refused_steps", &steps<&ThreeStepOptimizer::refused_steps>,
                             "Number of steps that a modifier refused, such as those whose "
                             "gradients overflowed under loss_scale.")
      .def("__repr__", [](Optimizer& optimizer) {
        return fmt::format("<d5.Optimizer of {}>", describe(optimizer.executor().network()));
      });
  bind_three_steps(m);

  m.def(
      "optimizer",
      [](const Anything& which, const std::shared_ptr<GraphExecutor>& executor,
         const std::string& loss, const Options& options) -> std::shared_ptr<Optimizer> {
        py::kwargs own(options.attr("copy")());
        const py::object modifiers = own.attr("pop")("modifiers", py::tuple());
        py::dict in_python = take_schedules_in_python(own);
        const std::vector<std::string> scheduled = names_of_schedules(own);
        std::shared_ptr<Optimizer> optimizer;
        if (py::isinstance<py::str>(which)) {
          const auto name = which.cast<std::string>();
          const Settings settings =
              entry_settings(own, "d5.optimizer", find_optimizer(name).options());
          optimizer = open_optimizer(name, executor, loss, settings);
        } else {
          const py::object schedules = own.attr("pop")("schedules", py::dict());
          optimizer = made_of(which, executor, loss, own);
          for (const auto& [number, choice] : py::dict(schedules)) in_python[number] = choice;
        }
        for (const auto& number : scheduled) expect_kept(*optimizer, number);
        for (const auto& [number, schedule] : in_python) {
          expect_kept(*optimizer, number.cast<std::string>());
          three_steps(*optimizer).add(to_scheduled(number.cast<std::string>(), schedule));
        }
        add_modifiers(*optimizer, modifiers);
        return optimizer;
      },
      py::arg("which"), py::arg("executor").none(false), py::arg("loss") = "loss",
      "Makes an optimizer by name (\"adam\", \"torch/adam\") with its options as keywords, or from "
      "a d5.Optimizer in Python, or a d5.UpdateRule: its class, with options as keywords, or an "
      "object. `modifiers` take part in every step: names, dicts with a name and "
      "settings, or objects of d5.StepModifier. `schedules` is a dict from a hyper-parameter to a "
      "schedule's name, a dict with its name and settings, {\"learning_rate\": {\"name\": "
      "\"cosine\", \"length\": 1000}}, or an object of d5.Schedule.");
  m.def("optimizers", [] { return optimizers().names(); });
  m.def("step_modifiers", [] { return step_modifiers().names(); });
}

}  // namespace d5::python
