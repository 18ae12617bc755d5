// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "level1_network/executor.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

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
    return call_python([&] { return self_.object.attr("wants_stop")().cast<bool>(); });
  }

 private:
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) {
    if (!hooks_.contains(name)) return;
    call_python([&] {
      self_.object.attr(name)(py::cast(arguments, py::return_value_policy::reference)...);
    });
  }
  void call_with_outputs(const char* name, Trainer& trainer, const Batch& batch,
                         const ValueMap& outputs) {
    if (!hooks_.contains(name)) return;
    constexpr auto reference = py::return_value_policy::reference;
    call_python([&] {
      self_.object.attr(name)(py::cast(&trainer, reference), py::cast(&batch, reference),
                              from_values(outputs));
    });
  }
  PythonReference self_;
  std::set<std::string_view> hooks_;
};

void add_event(Trainer& trainer, const Anything& event) {
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
}

/// A trainer and what it works with are one thread's while it runs.
struct TrainerUse {
  explicit TrainerUse(Trainer& trainer)
      : executor(&trainer.optimizer().executor(), "the trainer's executor"),
        sampler(&trainer.train_sampler(), "the trainer's sampler") {}
  Use executor, sampler;
};

void run(Trainer& trainer) {
  const TrainerUse use(trainer);
  orderly_call([&](const Interrupt& interrupt) { trainer.run(interrupt); });
}

void test(Trainer& trainer) {
  const TrainerUse use(trainer);
  long_call(trainer.optimizer().executor(), [&] { trainer.test(); });
}

}  // namespace

void bind_trainer(py::module_& m) {
  py::class_<Trainer>(m, "Trainer",
                      "Epochs of batches, a test run after each, observers all along.")
      .def(py::init([](Optimizer& optimizer, Sampler& train, std::optional<Sampler*> test,
                       std::int64_t epochs, std::int64_t most_batches, const Path& checkpoint,
                       std::int64_t checkpoints_kept) {
             return std::make_unique<Trainer>(optimizer, train, test.value_or(nullptr),
                                              TrainerOptions{.epochs = epochs,
                                                             .most_batches = most_batches,
                                                             .checkpoint = checkpoint.string(),
                                                             .checkpoints_kept = checkpoints_kept});
           }),
           py::arg("optimizer"), py::arg("train"), py::arg("test") = py::none(), py::kw_only(),
           py::arg("epochs") = 1, py::arg("most_batches") = 0, py::arg("checkpoint") = "",
           py::arg("checkpoints_kept") = 1, py::keep_alive<1, 2>(), py::keep_alive<1, 3>(),
           py::keep_alive<1, 4>())
      .def("run", &run,
           "Trains to the end. Ctrl-C ends it within the batch that is at work; with a checkpoint "
           "after it, and the next run continues there.")
      .def(
          "resume", [](Trainer& trainer, const Path& path) { trainer.resume(path.string()); },
          py::arg("path"), "Continues from a checkpoint at the next run.")
      .def(
          "save_checkpoint",
          [](Trainer& trainer, const Path& path) { trainer.save_checkpoint(path.string()); },
          py::arg("path"), "Writes a checkpoint of this moment.")
      .def("test", &test, "Runs the test set once.")
      .def("add_event", &add_event, py::arg("event"), py::keep_alive<1, 2>())
      .def_property_readonly("epoch", &Trainer::epoch)
      .def_property_readonly("step", &Trainer::step)
      .def("__repr__", [](const Trainer& trainer) {
        return fmt::format("<d5.Trainer: epoch {} of {}, step {}>", trainer.epoch(),
                           trainer.options().epochs, trainer.step());
      });
}

}  // namespace d5::python
