// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bindings.hpp"
#include "collected.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/read_gradients.hpp"
#include "level2_training/training/python_training_event.hpp"
#include "level2_training/training/session_options.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

/// The place of an observer among the trainer's; none if it is not one of them.
std::optional<std::size_t> place_of(Trainer& trainer, const Anything& event) {
  const Event* native = py::isinstance<Event>(event) ? event.cast<Event*>() : nullptr;
  const auto& all = trainer.events().all();
  const auto place = std::ranges::find_if(all, [&](const auto& one) {
    const auto* python = dynamic_cast<const HoldsPython*>(one.get());
    return one.get() == native || (python && event.is(python->held()));
  });
  if (place == all.end()) return std::nullopt;
  return std::size_t(place - all.begin());
}

void hang_up(Trainer& trainer, const Anything& event) {
  if (event.is_none()) {
    throw TypeError(
        "d5.Trainer.add_event: event is None; expected an object of d5.Event or d5.Metric");
  }
  if (py::isinstance<py::str>(event)) {
    throw TypeError(
        fmt::format("d5.Trainer.add_event: event is {}, a text; expected an object: "
                    "d5.training_metric({})",
                    shown(event), shown(event)));
  }
  if (place_of(trainer, event)) {
    throw ValueError(fmt::format(
        "d5.Trainer.add_event: {} is an event of this trainer already, and would count twice",
        shown(event)));
  }
  if (py::isinstance<Event>(event)) {
    trainer.events().add(event.cast<std::shared_ptr<Event>>());
    return;
  }
  add_event(trainer, event);
}

/// Reserves a trainer and its parts for one thread while it runs.
struct TrainerUse {
  explicit TrainerUse(Trainer& trainer)
      : executor(&trainer.optimizer().executor(), "the trainer's executor"),
        sampler(&trainer.train_sampler(), "the trainer's sampler") {}
  Use executor, sampler;
};

void run_trainer(Trainer& trainer) {
  expect_one_reader(trainer);
  const TrainerUse use(trainer);
  orderly_call([&](const Interrupt& interrupt) {
    // A scheme's server answers other ranks instead.
    auto* scheme = dynamic_cast<DistributedOptimizer*>(&trainer.optimizer());
    if (scheme) return scheme->run(trainer, interrupt);
    trainer.run(interrupt);
  });
}

void test_trainer(Trainer& trainer) {
  if (trainer.test_sampler() == nullptr) {
    throw ValueError(
        "d5.Trainer.test: the trainer has no sampler for tests; d5.Trainer(optimizer, train, test) "
        "has one");
  }
  const TrainerUse use(trainer);
  long_call(trainer.optimizer().executor(), [&] { trainer.test(); });
}

void resume_trainer(Trainer& trainer, const Path& path) {
  const TrainerUse use(trainer);
  long_call([&](const Interrupt&) { trainer.resume(path.string()); });
}

/// May be called from a hook, too.
void save_checkpoint(Trainer& trainer, const Path& path) {
  long_call([&](const Interrupt&) { trainer.save_checkpoint(path.string()); });
}

void show_trainer(const py::handle& self, Shown& shown) {
  auto& trainer = self.cast<Trainer&>();
  shown.show_kept_by(self);
  if (!is_in_use(&trainer.optimizer().executor())) shown.show(trainer.events());
}

}  // namespace

void bind_trainer(py::module_& m) {
  py::class_<Trainer>(m, "Trainer",
                      "Trains for epochs of batches, with a test run after each, and observers.",
                      seen_by_collector<&show_trainer>())
      .def(py::init([](Optimizer& optimizer, Sampler& train, std::optional<Sampler*> test,
                       std::int64_t epochs, std::int64_t most_batches, const Path& checkpoint,
                       std::int64_t checkpoints_kept, std::int64_t checkpoint_every,
                       std::int64_t test_every, std::string recipe) {
             expect_checkpoint(checkpoint.string(), checkpoint_every, checkpoints_kept);
             if (!test && test_every != TrainerOptions{}.test_every) {
               throw ValueError(
                   "d5.Trainer: test_every is given without test, the sampler of test runs");
             }
             return std::make_unique<Trainer>(optimizer, train, test.value_or(nullptr),
                                              TrainerOptions{.epochs = epochs,
                                                             .most_batches = most_batches,
                                                             .checkpoint = checkpoint.string(),
                                                             .test_every = test_every,
                                                             .checkpoint_every = checkpoint_every,
                                                             .checkpoints_kept = checkpoints_kept,
                                                             .recipe = std::move(recipe)});
           }),
           py::arg("optimizer").none(false), py::arg("train").none(false),
           py::arg("test") = py::none(), py::kw_only(), py::arg("epochs") = 1,
           py::arg("most_batches") = 0, py::arg("checkpoint") = "", py::arg("checkpoints_kept") = 1,
           py::arg("checkpoint_every") = 500, py::arg("test_every") = 1, py::arg("recipe") = "",
           py::keep_alive<1, 2>(), py::keep_alive<1, 3>(), py::keep_alive<1, 4>(),
           "`most_batches` limits the whole training, not each epoch; 0: no limit. `checkpoint` is "
           "written every `checkpoint_every` batches and after each epoch; older "
           "ones stay as FILE.step-N, `checkpoints_kept` in all. A checkpoint of another `recipe`, "
           "a text, is refused. `test_every` counts epochs.")
      .def("run", &run_trainer,
           "Trains to the end. Ctrl-C ends it within the current batch, with a checkpoint after "
           "it, and the next run continues there. With a scheme, a rank that serves others does so "
           "until the last of them has ended.")
      .def("resume", &resume_trainer, py::arg("path"),
           "Continues from a checkpoint in the next run.")
      .def("save_checkpoint", &save_checkpoint, py::arg("path"),
           "Writes a checkpoint of the current state.")
      .def("test", &test_trainer, "Runs the test set once.")
      .def("add_event", &hang_up, py::arg("event"),
           "Adds an observer: a d5.Event, a d5.Metric or a metric of training_metric. Hooks run in "
           "the order in which observers were added, each of which is added once.")
      .def("_place", &place_of, py::arg("event"),
           "Place of an observer in the order of adding; None if it is not one of this trainer.")
      .def_property_readonly(
          "optimizer", [](Trainer& trainer) { return &trainer.optimizer(); },
          py::return_value_policy::reference_internal,
          "The optimizer, which updates the parameters.")
      .def_property_readonly("epoch", &Trainer::epoch, "Epoch of the next batch, from 0.")
      .def_property_readonly(
          "epochs", [](const Trainer& trainer) { return trainer.options().epochs; },
          "Number of epochs to train.")
      .def_property_readonly("batch", &Trainer::batch, "Index of the next batch in this epoch.")
      .def_property_readonly("step", &Trainer::step, "Batches since the beginning.")
      .def_property_readonly("interrupted", &Trainer::interrupted,
                             "Whether the last run was interrupted.")
      .def_property_readonly(
          "batch_times",
          [](const Trainer& trainer) {
            const BatchTimes& times = trainer.batch_times();
            return std::map<std::string, double>{{"waiting", times.waiting_seconds},
                                                 {"making", times.making_seconds},
                                                 {"step", times.step_seconds}};
          },
          "Seconds of the batch of a before_batch or after_batch hook: waiting for the sampler, "
          "reading, and its step (0 before it).")
      .def("__repr__", [](const Trainer& trainer) {
        return fmt::format("<d5.Trainer: epoch {} of {}, step {}>", trainer.epoch(),
                           trainer.options().epochs, trainer.step());
      });
}

}  // namespace d5::python
