// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/python_step_modifier.hpp"
#include "declared_keywords.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "lent_outputs.hpp"
#include "long_call.hpp"
#include "python_state.hpp"

namespace d5::python {
namespace {

class PythonStepModifier final : public StepModifier {
 public:
  explicit PythonStepModifier(const py::object& self)
      : self_(self),
        name_(py::str(self.attr("name"))),
        before_step_(overrides(self, "StepModifier", "before_step")),
        loss_factor_(overrides(self, "StepModifier", "loss_factor")),
        gradients_final_(overrides(self, "StepModifier", "gradients_final")),
        after_step_(overrides(self, "StepModifier", "after_step")),
        begin_test_(overrides(self, "StepModifier", "begin_test")),
        end_test_(overrides(self, "StepModifier", "end_test")),
        tested_(overrides(self, "StepModifier", "tested")) {
    expect_state_pair(self, "StepModifier");
  }

  [[nodiscard]] std::string name() const override { return name_; }
  void before_step(ThreeStepOptimizer& optimizer, const Batch& batch) override {
    if (!before_step_) return;
    call_python([&] { self_.object.attr("before_step")(seen(optimizer), batch.epoch); });
  }
  [[nodiscard]] double loss_factor() const override {
    if (!loss_factor_) return 1;
    return call_python([&] {
      const auto factor = answered<double>(self_.object.attr("loss_factor")(),
                                           name_ + ".loss_factor()", "a number");
      if (std::isfinite(factor) && factor != 0) return factor;
      throw ValueError(fmt::format(
          "{}.loss_factor() gave {}, expected a finite number other than 0: gradients are divided "
          "by it",
          name_, factor));
    });
  }
  [[nodiscard]] bool wants_all_gradients() const override { return gradients_final_; }
  bool gradients_final(ThreeStepOptimizer& optimizer, double& factor) override {
    return call_python([&] {
      const py::object answer = self_.object.attr("gradients_final")(seen(optimizer), factor);
      return answer.is_none() || answered<bool>(answer, name_ + ".gradients_final()",
                                                "whether the step goes on, or None");
    });
  }
  void after_step(ThreeStepOptimizer& optimizer, const Batch&, const ValueMap& outputs) override {
    if (!after_step_) return;
    call_python([&] {
      const LeaseScope hook("a step's hook");
      self_.object.attr("after_step")(seen(optimizer), lent_outputs(outputs, hook.lease()));
    });
  }
  void begin_test(ThreeStepOptimizer& optimizer) override {
    if (begin_test_) call_python([&] { self_.object.attr("begin_test")(seen(optimizer)); });
  }
  void end_test(ThreeStepOptimizer& optimizer) override {
    if (end_test_) call_python([&] { self_.object.attr("end_test")(seen(optimizer)); });
  }
  void tested(ThreeStepOptimizer& optimizer, double loss) override {
    if (tested_) call_python([&] { self_.object.attr("tested")(seen(optimizer), loss); });
  }
  [[nodiscard]] ValueMap state() const override { return python_state_of(self_); }
  void restore(const ValueMap& state) override { restore_python_state(self_, state); }

 private:
  static py::object seen(ThreeStepOptimizer& optimizer) {
    return py::cast(static_cast<Optimizer*>(&optimizer), py::return_value_policy::reference);
  }

  PythonReference self_;
  std::string name_;
  bool before_step_, loss_factor_, gradients_final_, after_step_, begin_test_, end_test_, tested_;
};

}  // namespace

std::shared_ptr<StepModifier> to_step_modifier(const py::handle& object) {
  if (py::isinstance<py::str>(object))
    return step_modifiers().at(object.cast<std::string>()).make();
  if (py::isinstance<py::dict>(object)) {
    const EntryChoice choice = entry_choice(object, "a modifier", step_modifiers());
    return step_modifiers().at(choice.name).make(choice.settings);
  }
  const py::object base = py::module_::import("d5").attr("StepModifier");
  if (!py::isinstance(object, base)) {
    throw TypeError(fmt::format(
        "a modifier is {}; expected a name, a dict with a name and settings, or an object of a "
        "class derived from d5.StepModifier",
        shown(object)));
  }
  return std::make_shared<PythonStepModifier>(py::reinterpret_borrow<py::object>(object));
}

}  // namespace d5::python
