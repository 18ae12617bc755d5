// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/accuracy/accuracy_measure.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include "answered.hpp"
#include "lent_inputs.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kAccuracyHelp =
    R"(Judges the answers of a whole data set, sample by sample; base class of accuracy measures in Python.

    @d5.register("tests-near")
    class Near(d5.AccuracyMeasure):
        def judge(self, answer, right):
            return float(abs(answer["classes"].numpy()[0] - right["label"].numpy()) <= 1)

`judge` returns how nearly right an answer is: 1 is right, 0 is wrong. `right` holds the data set's fields
besides those that the network was fed. A sample without an answer is wrong, and is passed to
`miss(right)`. The mean over all samples is the result, unless the class has `value()`, which is called at
the end.)";

class PythonAccuracyMeasure final : public AccuracyMeasure,
                                    public py::trampoline_self_life_support {
 public:
  void take_name(std::string name) { name_ = std::move(name); }
  double judge(const ValueMap& answer, const ValueMap& right) override {
    const double score = call_python([&] {
      const py::function method =
          method_of<AccuracyMeasure>(this, "judge", "judge(answer, right), a number");
      const LeaseScope call("an accuracy's call");
      const py::object said =
          method(lent_inputs(answer, call.lease()), lent_inputs(right, call.lease()));
      return answered<double>(said, py::cast(this), "judge()", "a number");
    });
    scores_.push_back(score);
    return score;
  }
  void miss(const ValueMap& right) override {
    scores_.push_back(0);
    call_python([&] {
      const py::function method = override_of(static_cast<AccuracyMeasure*>(this), "miss");
      const LeaseScope call("an accuracy's call");
      if (method) method(lent_inputs(right, call.lease()));
    });
  }
  [[nodiscard]] Measurement record() const override {
    Measurement record;
    record.metric = name_;
    record.unit = "1";
    record.quantity = Quantity::accuracy;
    record.direction = Direction::higher_is_better;
    record.statistic = {.of = Statistic::Of::mean};
    record.samples = scores_;
    call_python([&] {
      const py::function value = override_of(static_cast<const AccuracyMeasure*>(this), "value");
      if (!value) return;
      record.statistic = {.of = Statistic::Of::single};
      record.samples = {answered<double>(value(), py::cast(this), "value()", "a number")};
    });
    return record;
  }

 private:
  std::string name_ = "accuracy";
  std::vector<double> scores_;
};

}  // namespace

void register_accuracy_measure(py::module_& m) {
  py::classh<AccuracyMeasure, PythonAccuracyMeasure> measure(m, "AccuracyMeasure", kAccuracyHelp);
  measure.def(py::init<>())
      .def(
          "judge",
          [](AccuracyMeasure& self, const Values& answer, const Values& right) {
            return self.judge(to_values(answer), to_values(right));
          },
          py::arg("answer"), py::arg("right"),
          "Judges one answer: 1 is right, 0 is wrong. The score counts in the result.")
      .def(
          "miss", [](AccuracyMeasure& self, const Values& right) { self.miss(to_values(right)); },
          py::arg("right"), "Counts a sample that was not answered: wrong.")
      .def("record", &AccuracyMeasure::record, "The result over all samples so far.");
  let_derive(measure);
  const auto make = [](const PythonEntry& entry, const PythonOptions& own) {
    return entry.make(own, [&entry](const py::object& made) {
      auto part = expected_part<AccuracyMeasure>(made, "a d5.AccuracyMeasure");
      if (auto* own_part = dynamic_cast<PythonAccuracyMeasure*>(part.get())) {
        own_part->take_name(entry.name);
      }
      return part;
    });
  };
  part_kinds().add(
      accuracy_measures().kind(),
      {.base = "AccuracyMeasure", .needs = 0, .add = adding_to(accuracy_measures(), make)});
  bind_by_name<AccuracyMeasure>(m, accuracy_measures(), "accuracy_measure", "accuracy_measures");
}

}  // namespace d5::python
