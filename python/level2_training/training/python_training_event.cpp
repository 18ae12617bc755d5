// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/python_training_event.hpp"

#include <memory>
#include <string>

#include "d5/core/errors/error.hpp"
#include "level2_training/training/python_metric.hpp"

namespace d5::python {
namespace {

class PythonTrainingEvent final : public PythonTrainingHooks<TrainingEvent> {
 public:
  explicit PythonTrainingEvent(const py::object& self) : PythonTrainingHooks(self) {
    if (!listens()) throw_without_hooks(self, "the event overrides none of d5.Event's hooks");
  }
};

bool is_metric(const py::object& self) {
  return py::isinstance(self, py::module_::import("d5").attr("Metric"));
}

}  // namespace

std::shared_ptr<TrainingEvent> training_event(const py::object& self) {
  if (py::isinstance<Event>(self)) {  // such as a metric of training_metric
    auto event = std::dynamic_pointer_cast<TrainingEvent>(self.cast<std::shared_ptr<Event>>());
    if (event) return event;
    throw TypeError(shown(self) + " observes no training");
  }
  if (is_metric(self)) return to_metric(self);
  expect_object(self);
  return std::make_shared<PythonTrainingEvent>(self);
}

void add_event(Trainer& trainer, const py::object& self) {
  if (is_metric(self)) {  // a checkpoint stores it
    trainer.events().add(to_metric(self));
    return;
  }
  expect_object(self);
  const auto event = std::make_shared<PythonTrainingEvent>(self);
  event->listen_to(trainer.optimizer().executor());
  trainer.events().add(event);
}

}  // namespace d5::python
