// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/python_optimizer.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "d5/core/error.hpp"
#include "level2_training/optimization/python_gradients.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// Numbers of an object that have the names of what its `__init__` takes.
struct Numbers {
  std::vector<std::pair<std::string, double>> values;

  void declare(OptionList& options) {
    for (auto& [name, value] : values) options.add(name, value, "");
  }
};

Numbers numbers_of(const py::object& self) {
  const auto found = py::module_::import("d5._entries").attr("numbers_of")(self);
  return {found.cast<std::vector<std::pair<std::string, double>>>()};
}

/// An update rule written in Python.
class PythonOptimizer final : public UpdateRuleOptimizer {
 public:
  PythonOptimizer(const py::object& self, std::shared_ptr<GraphExecutor> executor, std::string loss)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)),
        self_(self),
        numbers_(numbers_of(self)),
        told_(numbers_),
        new_input_(has("new_input")),
        prepare_param_(has("prepare_param")),
        update_(has("update")),
        begin_test_(has("begin_test")),
        end_test_(has("end_test")) {
    for (const char* needed : {update_ ? "update" : "update_rule", "state", "restore"}) {
      if (has(needed)) continue;
      throw TypeError(fmt::format(
          "the optimizer {} has no method {}; a checkpoint needs state(), which returns what the "
          "rule remembers as a dict of arrays, and restore(state)",
          std::string(py::str(py::type::of(self).attr("__name__"))), needed));
    }
    hyper_parameters().bind(numbers_);
  }

  const ValueMap& step(const Batch& batch) override {
    if (!update_) return ThreeStepOptimizer::step(batch);
    struct Scope {
      bool& here;
      ~Scope() { here = false; }
    };
    in_step_ = true;
    const Scope scope{in_step_};
    begin_step(batch);
    const ValueMap& outputs = run_gradients(batch);
    if (executor().ended_early()) return outputs;
    asked_ = std::make_unique<PythonGradients>(gradients(), agreement(), batch, outputs);
    update_all();
    return asked_->outputs;
  }

  void new_input() override {
    if (update_ && !in_step_) {
      throw Unsupported(
          "an optimizer in Python with `update` updates all parameters together; call its step, or "
          "give it update_rule");
    }
    if (!new_input_ && told_.values == numbers_.values) return;
    call_python([&] {
      tell_numbers();
      if (new_input_) self_.object.attr("new_input")();
    });
  }
  [[nodiscard]] bool prepares_params() const override { return prepare_param_; }
  void prepare_param(Parameter& parameter) override {
    call_python([&] { self_.object.attr("prepare_param")(Parameter(parameter)); });
  }
  [[nodiscard]] bool wants_all_gradients() const override { return update_; }
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    if (update_) return;
    call_python(
        [&] { self_.object.attr("update_rule")(Tensor(gradient), Parameter(parameter), index); });
  }
  void update_parameters(ParameterRange range, double factor) override {
    if (!update_) return ThreeStepOptimizer::update_parameters(range, factor);
    const auto& parameters = executor().network().parameters();
    if (!parameters.empty() && parameters.front().value.device() != Device{}) {
      throw Unsupported(
          "an optimizer in Python with `update` needs its parameters on the host; for a device "
          "give "
          "it update_rule");
    }
    if (factor != 1) ThreeStepOptimizer::update_parameters(range, factor);  // they count once, then
    call_python([&] {
      self_.object.attr("update")(py::cast(asked_.get(), py::return_value_policy::reference));
    });
  }
  void forget_others() override {
    if (!update_) return;
    throw Unsupported(
        "an optimizer in Python with `update` updates all parameters together, which ranks cannot "
        "share; give it update_rule, or choose an exchange that leaves all to each rank, such as "
        "dense");
  }
  void begin_test_of_rule() override {
    if (begin_test_) call_python([&] { self_.object.attr("begin_test")(); });
  }
  void end_test_of_rule() override {
    if (end_test_) call_python([&] { self_.object.attr("end_test")(); });
  }
  [[nodiscard]] ValueMap rule_state() const override {
    return call_python([&] { return to_values(self_.object.attr("state")().cast<py::dict>()); });
  }
  void restore_rule(const ValueMap& state) override {
    call_python([&] { self_.object.attr("restore")(copy_values(state)); });
  }

 private:
  [[nodiscard]] bool has(const char* name) const {
    return overrides(self_.object, "Optimizer", name);
  }
  /// Those that were changed since.
  void tell_numbers() {
    for (std::size_t i = 0; i < numbers_.values.size(); ++i) {
      const auto& [name, value] = numbers_.values[i];
      if (value != told_.values[i].second) py::setattr(self_.object, name.c_str(), py::cast(value));
    }
    told_ = numbers_;
  }

  PythonReference self_;
  Numbers numbers_, told_;
  bool new_input_, prepare_param_, update_, begin_test_, end_test_;
  bool in_step_ = false;
  std::unique_ptr<PythonGradients> asked_;  // of the step under way, or the last one
};

}  // namespace

std::shared_ptr<Optimizer> to_optimizer(const py::object& self,
                                        std::shared_ptr<GraphExecutor> executor, std::string loss) {
  return std::make_shared<PythonOptimizer>(self, std::move(executor), std::move(loss));
}

}  // namespace d5::python
