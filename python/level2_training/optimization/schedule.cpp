// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/schedule.hpp"

#include <fmt/format.h>

#include <array>

#include "answered.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "declared_keywords.hpp"
#include "level2_training/optimization/python_schedule.hpp"
#include "long_call.hpp"
#include "python_state.hpp"

namespace d5::python {
namespace {

std::string class_of(const py::object& self) {
  return py::str(py::type::of(self).attr("__name__"));
}

/// The index in `words` of the object's attribute.
template <class Enum, std::size_t N>
Enum schedule_word(const py::object& self, const char* attribute,
                   const std::array<const char*, N>& words) {
  const auto word = self.attr(attribute).cast<std::string>();
  for (std::size_t i = 0; i < N; ++i) {
    if (word == words[i]) return static_cast<Enum>(i);
  }
  throw ValueError(fmt::format("schedule {}: {} is '{}', expected {}", class_of(self), attribute,
                               printable(word), fmt::join(words, " or ")));
}

class PythonSchedule final : public Schedule {
 public:
  explicit PythonSchedule(const py::object& self)
      : self_(self),
        observes_(schedule_word<Observes>(self, "observes",
                                          std::array{"nothing", "training_loss", "test_loss"})) {
    expect_state_pair(self, "Schedule");
    if (overrides(self, "Schedule", "at")) return;
    throw TypeError(fmt::format("the schedule {} has no method at(time, initial)", class_of(self)));
  }

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    return call_python([&] {
      const py::object value = self_.object.attr("at")(time, initial);
      const std::string who = fmt::format("schedule {}: at()", class_of(self_.object));
      if (is_flag(value)) throw_answer(value, who, "a number");
      return answered<double>(value, who, "a number");
    });
  }
  [[nodiscard]] Observes observes() const override { return observes_; }
  void observe(double loss) override {
    call_python([&] { self_.object.attr("observe")(loss); });
  }
  [[nodiscard]] ValueMap state() const override { return python_state_of(self_); }
  void restore(const ValueMap& state) override { restore_python_state(self_, state); }

 private:
  PythonReference self_;
  Observes observes_;
};

}  // namespace

std::shared_ptr<Schedule> to_schedule(const py::object& object) {
  if (!py::isinstance(object, py::module_::import("d5").attr("Schedule"))) {
    throw TypeError(fmt::format(
        "a schedule is {}; expected a name, a dict with a name and settings, or an object of a "
        "class derived from d5.Schedule",
        shown(object)));
  }
  return std::make_shared<PythonSchedule>(object);
}

std::shared_ptr<StepModifier> to_scheduled(const std::string& hyper_parameter,
                                           const py::handle& schedule) {
  if (py::isinstance<py::str>(schedule)) {
    return scheduled(hyper_parameter, entry_of_words("schedule", schedule.cast<std::string>()));
  }
  if (py::isinstance<py::dict>(schedule)) {
    return scheduled(hyper_parameter, entry_choice(schedule, "a schedule", schedules()));
  }
  const auto object = py::reinterpret_borrow<py::object>(schedule);
  auto made = to_schedule(object);
  const auto every = schedule_word<Schedule::Every>(object, "every", std::array{"step", "epoch"});
  return scheduled(hyper_parameter, std::move(made), every, class_of(object));
}

void bind_schedule(py::module_& m) {
  py::class_<Schedule, std::shared_ptr<Schedule>>(m, "BoundSchedule",
                                                  "The value of a hyper-parameter over time.")
      .def("at", &Schedule::at, py::arg("time"), py::arg("initial"),
           "The value at `time` (in steps or epochs, from 0) for the initial value `initial`.")
      .def(
          "observe",
          [](Schedule& schedule, double loss) {
            if (schedule.observes() != Schedule::Observes::nothing) schedule.observe(loss);
          },
          py::arg("loss"), "Passes on a loss, if the schedule observes one.");
  m.def(
      "schedule",
      [](const std::string& name, const Options& options) {
        return schedules().at(name).make(entry_settings(options, "d5.schedule", schedules(), name));
      },
      py::arg("name"),
      "Makes a schedule by name, to look at: schedule(\"cosine\", length=100).at(50, 0.1).");
  m.def("schedules", [] { return schedules().names(); });
}

}  // namespace d5::python
