// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "interruptible.hpp"
#include "level1_network.hpp"

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
    const py::gil_scoped_acquire gil;
    self_.object.attr("new_input")();
  }
  void prepare_param(Parameter& parameter) override {
    if (!prepare_param_) return;
    const py::gil_scoped_acquire gil;
    self_.object.attr("prepare_param")(Parameter(parameter));
  }
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    const py::gil_scoped_acquire gil;
    self_.object.attr("update_rule")(Tensor(gradient), Parameter(parameter), index);
  }
  ValueMap state() const override {
    const py::gil_scoped_acquire gil;
    return to_values(self_.object.attr("state")().cast<py::dict>());
  }
  void restore(const ValueMap& state) override {
    const py::gil_scoped_acquire gil;
    self_.object.attr("restore")(copy_values(state));
  }

 private:
  PythonReference self_;
  bool new_input_, prepare_param_;
};

/// A Python object's training hooks; those that it does not override are not called.
class PythonTrainingEvent final : public TrainingEvent {
 public:
  explicit PythonTrainingEvent(const py::object& self) : self_(self) {
    for (const char* name :
         {"before_training", "after_training", "before_epoch", "after_epoch", "before_batch",
          "after_batch", "before_test", "after_test", "after_test_batch", "wants_stop"}) {
      if (overrides(self, "Event", name)) hooks_.insert(name);
    }
  }
  [[nodiscard]] bool listens() const { return !hooks_.empty(); }

  void before_training(Trainer& trainer) override { call("before_training", &trainer); }
  void after_training(Trainer& trainer) override { call("after_training", &trainer); }
  void before_epoch(Trainer& trainer, std::int64_t epoch) override {
    call("before_epoch", &trainer, epoch);
  }
  void after_epoch(Trainer& trainer, std::int64_t epoch) override {
    call("after_epoch", &trainer, epoch);
  }
  void before_batch(Trainer& trainer, const Batch& batch) override {
    call("before_batch", &trainer, &batch);
  }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    call_with_outputs("after_batch", trainer, batch, outputs);
  }
  void before_test(Trainer& trainer) override { call("before_test", &trainer); }
  void after_test(Trainer& trainer) override { call("after_test", &trainer); }
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    call_with_outputs("after_test_batch", trainer, batch, outputs);
  }
  bool wants_stop() const override {
    if (!hooks_.contains("wants_stop")) return false;
    const py::gil_scoped_acquire gil;
    return self_.object.attr("wants_stop")().cast<bool>();
  }

 private:
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) {
    if (!hooks_.contains(name)) return;
    const py::gil_scoped_acquire gil;
    self_.object.attr(name)(py::cast(arguments, py::return_value_policy::reference)...);
  }
  void call_with_outputs(const char* name, Trainer& trainer, const Batch& batch,
                         const ValueMap& outputs) {
    if (!hooks_.contains(name)) return;
    const py::gil_scoped_acquire gil;
    constexpr auto reference = py::return_value_policy::reference;
    self_.object.attr(name)(py::cast(&trainer, reference), py::cast(&batch, reference),
                            from_values(outputs));
  }
  PythonReference self_;
  std::set<std::string_view> hooks_;
};

void bind_data(py::module_& m) {
  py::class_<Dataset, std::shared_ptr<Dataset>>(m, "Dataset", "Samples that are reached by index.")
      .def("__len__", &Dataset::size)
      .def_property_readonly("name", &Dataset::name)
      .def(
          "__getitem__",
          [](const Dataset& dataset, std::int64_t index) {
            std::vector<Tensor> batch;
            py::dict result;
            for (const auto& field : dataset.fields()) {
              TensorDesc desc = field.desc;
              std::vector<std::int64_t> dims{1};
              dims.insert(dims.end(), desc.shape.begin(), desc.shape.end());
              desc.shape = Shape(std::move(dims));
              batch.push_back(Tensor::empty(desc));
            }
            dataset.read(std::span(&index, 1), batch);
            for (std::size_t i = 0; i < batch.size(); ++i) {
              const auto& field = dataset.fields()[i];
              result[py::cast(field.name)] = batch[i].reshaped(field.desc.shape);
            }
            return result;
          },
          py::arg("index"), "One sample, field by field.");

  py::class_<Batch>(m, "Batch", "What one step is fed; valid until the sampler's next one.")
      .def_property_readonly("values", [](const Batch& b) { return from_values(b.values); })
      .def_readonly("size", &Batch::size)
      .def_readonly("epoch", &Batch::epoch)
      .def_readonly("index", &Batch::index);

  py::class_<Sampler, std::shared_ptr<Sampler>>(m, "Sampler", "Splits a data set into batches.")
      .def("next", &Sampler::next, py::return_value_policy::reference_internal,
           "The next batch, or None at the end of an epoch.")
      .def("reset", &Sampler::reset, py::arg("epoch") = 0)
      .def("__len__", &Sampler::batches)
      .def(
          "__iter__",
          [](Sampler& s) -> Sampler& {
            s.reset(0);
            return s;
          },
          py::return_value_policy::reference_internal)
      .def(
          "__next__",
          [](Sampler& s) -> const Batch& {
            if (const Batch* batch = s.next()) return *batch;
            throw py::stop_iteration();
          },
          py::return_value_policy::reference_internal);

  py::class_<DatasetPair>(m, "DatasetPair", "Training and test part of one data set.")
      .def_property_readonly(
          "train", [](const DatasetPair& p) { return std::const_pointer_cast<Dataset>(p.train); })
      .def_property_readonly(
          "test", [](const DatasetPair& p) { return std::const_pointer_cast<Dataset>(p.test); });

  m.def(
      "dataset",
      [](const std::string& name, const py::kwargs& options) {
        return datasets().at(name).make(to_settings(options));
      },
      py::arg("name"), "Opens a data set, such as dataset(\"mnist\", data=\"folder\").");
  m.def(
      "sampler",
      [](const std::string& name, std::shared_ptr<Dataset> dataset, const py::kwargs& options) {
        return samplers().at(name).make(std::move(dataset), to_settings(options));
      },
      py::arg("name"), py::arg("dataset"),
      "Batches of a data set, such as sampler(\"shuffle\", data, batch_size=64, seed=1).");
}

void bind_metrics(py::module_& m) {
  py::class_<TrainingMetric, Event, std::shared_ptr<TrainingMetric>>(
      m, "TrainingMetric", "A metric that observes training: add it to a trainer's events.")
      .def_property_readonly("name", &TrainingMetric::name)
      .def_property_readonly("unit", &TrainingMetric::unit)
      .def_property_readonly("samples", &TrainingMetric::samples, "In the order taken.")
      .def_property_readonly(
          "value",
          [](const TrainingMetric& metric) {
            if (metric.samples().empty()) {
              throw NotFound("metric " + metric.name() + " has observed nothing yet");
            }
            return metric.samples().back();
          },
          "The last sample.");
  m.def(
      "training_metric",
      [](const std::string& name, const py::kwargs& options) {
        auto metric = std::dynamic_pointer_cast<TrainingMetric>(
            metrics().at(name).make(to_settings(options)));
        if (!metric) throw TypeError("metric " + name + " is not one of training; use d5.measure");
        return metric;
      },
      py::arg("name"), "A metric by name, such as training_metric(\"test_accuracy\").");
}

void bind_recipes(py::module_& m) {
  m.def(
      "train",
      [](const std::string& recipe_name, const std::vector<std::string>& changes,
         const std::vector<std::string>& frameworks, const std::string& data,
         const std::string& checkpoint, const std::string& resume) {
        Recipe recipe = load_recipe(recipe_name);
        for (const auto& change : changes) recipe.set(change);
        RecipeRun run;
        interruptible([&](const Interrupt& interrupt) {
          run = run_recipe(
              recipe,
              {.frameworks = frameworks, .data = data, .checkpoint = checkpoint, .resume = resume},
              interrupt);
        });
        return std::pair(run.results.measurements, run.accepted);
      },
      py::arg("recipe"), py::kw_only(), py::arg("set") = std::vector<std::string>{},
      py::arg("frameworks") = std::vector<std::string>{"reference"}, py::arg("data") = "",
      py::arg("checkpoint") = "", py::arg("resume") = "",
      "Runs a recipe; returns its measurements and whether all acceptable metrics were met.");
  m.def("recipes", &carried_recipes, "Names of the recipes that d5 carries.");
}

void bind_training(py::module_& m) {
  py::class_<Optimizer, std::shared_ptr<Optimizer>>(m, "BoundOptimizer", "Trains a network.")
      .def(
          "step",
          [](Optimizer& optimizer, const Batch& batch) {
            const ValueMap* outputs = nullptr;
            {
              const py::gil_scoped_release release;
              outputs = &optimizer.step(batch);
            }
            return copy_values(*outputs);
          },
          py::arg("batch"), "One step on a sampler's batch; returns the network's outputs.")
      .def(
          "step",
          [](Optimizer& optimizer, const py::dict& values) {
            Batch batch;
            batch.values = to_values(values);
            for (const auto& [name, value] : batch.values) {
              if (value.is_tensor() && value.tensor().shape().rank() > 0) {
                batch.size = value.tensor().shape()[0];
              }
            }
            const ValueMap* outputs = nullptr;
            {
              const py::gil_scoped_release release;
              outputs = &optimizer.step(batch);
            }
            return copy_values(*outputs);
          },
          py::arg("values"), "One step on arrays by name.");

  m.def(
      "optimizer",
      [](const py::object& which, const std::shared_ptr<GraphExecutor>& executor,
         const std::string& loss, const py::kwargs& options) -> std::shared_ptr<Optimizer> {
        if (!py::isinstance<py::str>(which)) {
          return std::make_shared<PythonOptimizer>(which, executor, loss);
        }
        return find_optimizer(which.cast<std::string>()).make(executor, loss, to_settings(options));
      },
      py::arg("which"), py::arg("executor"), py::arg("loss") = "loss",
      "An optimizer by name (\"adam\", \"torch/adam\") with its options as keywords, or a "
      "d5.Optimizer written in Python.");
  m.def("optimizers", [] { return optimizers().names(); });

  py::class_<Trainer>(m, "Trainer",
                      "Epochs of batches, a test run after each, observers all along.")
      .def(py::init([](Optimizer& optimizer, Sampler& train, Sampler* test, std::int64_t epochs,
                       std::int64_t most_batches, const std::string& checkpoint) {
             return std::make_unique<Trainer>(
                 optimizer, train, test,
                 TrainerOptions{
                     .epochs = epochs, .most_batches = most_batches, .checkpoint = checkpoint});
           }),
           py::arg("optimizer"), py::arg("train"), py::arg("test") = nullptr, py::kw_only(),
           py::arg("epochs") = 1, py::arg("most_batches") = 0, py::arg("checkpoint") = "",
           py::keep_alive<1, 2>(), py::keep_alive<1, 3>(), py::keep_alive<1, 4>())
      .def(
          "run",
          [](Trainer& trainer) {
            interruptible([&](const Interrupt& interrupt) { trainer.run(interrupt); });
          },
          "Trains to the end. Ctrl-C ends it after the batch that is at work; with a checkpoint, "
          "the "
          "next run continues there.")
      .def("resume", &Trainer::resume, py::arg("path"))
      .def("test", &Trainer::test, py::call_guard<py::gil_scoped_release>())
      .def(
          "add_event",
          [](Trainer& trainer, const py::object& event) {
            if (py::isinstance<Event>(event)) {
              trainer.events().add(event.cast<std::shared_ptr<Event>>());
              return;
            }
            auto training = std::make_shared<PythonTrainingEvent>(event);
            if (training->listens()) trainer.events().add(training);
            auto execution = execution_event(event);
            if (execution) trainer.optimizer().executor().events().add(execution);
            if (!training->listens() && !execution) {
              throw TypeError("the event overrides none of d5.Event's hooks");
            }
          },
          py::arg("event"), py::keep_alive<1, 2>())
      .def_property_readonly("epoch", &Trainer::epoch)
      .def_property_readonly("step", &Trainer::step);
}

}  // namespace

void bind_level2_training(py::module_& m) {
  py::class_<Event, std::shared_ptr<Event>>(m, "NativeEvent", "An observer written in C++.");
  bind_data(m);
  bind_metrics(m);
  bind_training(m);
  bind_recipes(m);
}

}  // namespace d5::python
