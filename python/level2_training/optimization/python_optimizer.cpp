// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/python_optimizer.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "python_state.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "collected.hpp"
#include "d5/core/errors/error.hpp"
#include "in_place.hpp"
#include "level2_training/optimization/python_gradients.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// The object's numeric attributes that have the names of parameters of its `__init__`.
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

/// Copies the result of a d5.ThreeStepOptimizer's `update_rule` or `prepare_param` to the
/// parameter's value, as if it had written it there.
void take_value(const py::object& given, const Parameter& parameter, const py::object& self) {
  if (given.is_none()) return;
  const Tensor value = to_tensor(given);
  if (value.shape() != parameter.value.shape()) {
    throw ShapeError(fmt::format(
        "optimizer {}: it returned {} for parameter '{}', expected its new value, {}",
        std::string(py::str(py::type::of(self).attr("__name__"))), to_string(value.desc()),
        printable(parameter.name), to_string(parameter.value.desc())));
  }
  Tensor into = parameter.value;
  if (value.raw() == into.raw()) return;
  if (value.dtype() == into.dtype()) return into.copy_from(value);
  py::cast(into).attr("numpy")()[py::ellipsis()] = py::cast(value).attr("numpy")();
}

/// The executors that objects in Python train, as long as their optimizers live.
class TrainedBy {
 public:
  /// Throws: ValueError if the object trains another executor, whose state it would mix with this.
  TrainedBy(const py::object& self, const std::shared_ptr<GraphExecutor>& executor)
      : key_(self.ptr()) {
    const std::lock_guard lock(mutex());
    Trained& here = all()[key_];
    const py::object own = py::getattr(self, "_executor", py::none());
    const bool keeps = !own.is_none() && !own.is(py::cast(executor));
    if (keeps || (here.optimizers > 0 && here.executor != executor.get())) {
      if (here.optimizers == 0) all().erase(key_);
      throw ValueError(fmt::format(
          "d5.optimizer: which is {}, which trains another executor, whose state it holds; make "
          "another object for this one: {}(...)",
          shown(self), std::string(py::str(py::type::of(self).attr("__name__")))));
    }
    here.executor = executor.get();
    ++here.optimizers;
  }
  ~TrainedBy() {
    const std::lock_guard lock(mutex());
    if (--all()[key_].optimizers == 0) all().erase(key_);
  }
  TrainedBy(const TrainedBy&) = delete;
  TrainedBy& operator=(const TrainedBy&) = delete;

 private:
  struct Trained {
    const GraphExecutor* executor = nullptr;
    int optimizers = 0;
  };
  static std::mutex& mutex() {
    static auto& one = *new std::mutex;  // optimizers may live to the end of the process
    return one;
  }
  static std::map<const PyObject*, Trained>& all() {
    static auto& objects = *new std::map<const PyObject*, Trained>;
    return objects;
  }
  const PyObject* key_;
};

/// An update rule in Python.
class PythonOptimizer final : public UpdateRuleOptimizer, public HoldsPython {
 public:
  PythonOptimizer(const py::object& self, const std::shared_ptr<GraphExecutor>& shared,
                  std::string loss)
      : UpdateRuleOptimizer(shared, std::move(loss)),
        self_(self),
        trained_(self, shared),
        numbers_(numbers_of(self)),
        told_(numbers_),
        three_steps_(py::isinstance(self, py::module_::import("d5").attr("ThreeStepOptimizer"))),
        new_input_(has("new_input")),
        prepare_param_(has("prepare_param")),
        update_(has("update")),
        begin_test_(has("begin_test")),
        end_test_(has("end_test")) {
    for (const char* needed : {update_ ? "update" : "update_rule", "state", "restore"}) {
      if (has(needed) || (three_steps_ && needed != std::string_view("update_rule"))) continue;
      throw TypeError(fmt::format(
          "the optimizer {} has no method {}; a checkpoint needs state(), which returns what the "
          "rule remembers as a dict of arrays, and restore(state)",
          std::string(py::str(py::type::of(self).attr("__name__"))), needed));
    }
    hyper_parameters().bind(numbers_);
    if (py::hasattr(self, "_executor")) self.attr("_executor") = shared;
  }

  [[nodiscard]] py::handle held() const override { return self_.object; }

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
    call_python([&] {
      const py::object given = self_.object.attr("prepare_param")(Parameter(parameter));
      if (three_steps_) return take_value(given, parameter, self_.object);
      expect_in_place(given, self_.object, "prepare_param()", "parameter.value[...] = ...");
    });
  }
  [[nodiscard]] bool wants_all_gradients() const override { return update_; }
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    if (update_) return;
    call_python([&] {
      const py::object rule = self_.object.attr("update_rule");
      if (!three_steps_) {
        expect_in_place(rule(gradient, Parameter(parameter), index), self_.object, "update_rule()",
                        "parameter.value -= ...");
      } else {
        take_value(rule(gradient, Parameter(parameter)), parameter, self_.object);
      }
    });
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
    if (factor != 1)
      ThreeStepOptimizer::update_parameters(range, factor);  // each counts once, then
    call_python([&] {
      expect_in_place(
          self_.object.attr("update")(py::cast(asked_.get(), py::return_value_policy::reference)),
          self_.object, "update()", "each parameter.value -= ...");
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
    if (!three_steps_) return python_state_of(self_);
    return call_python([&] {
      const py::object& self = self_.object;
      const py::object name = py::type::of(self).attr("__name__");
      return to_state(py::module_::import("d5._state").attr("flat")(self.attr("state"), name),
                      py::str(name).cast<std::string>() + ".state");
    });
  }
  void restore_rule(const ValueMap& state) override {
    if (!three_steps_) return restore_python_state(self_, state);
    call_python([&] {
      self_.object.attr("state") =
          py::module_::import("d5._state").attr("nested")(copy_values(state));
    });
  }

 private:
  [[nodiscard]] bool has(const char* name) const {
    return overrides(self_.object, three_steps_ ? "ThreeStepOptimizer" : "Optimizer", name);
  }
  /// The hyper-parameters that were changed since.
  void tell_numbers() {
    for (std::size_t i = 0; i < numbers_.values.size(); ++i) {
      const auto& [name, value] = numbers_.values[i];
      if (value != told_.values[i].second) py::setattr(self_.object, name.c_str(), py::cast(value));
    }
    told_ = numbers_;
  }

  PythonReference self_;
  TrainedBy trained_;
  Numbers numbers_, told_;
  bool three_steps_;  // derived from d5.ThreeStepOptimizer
  bool new_input_, prepare_param_, update_, begin_test_, end_test_;
  bool in_step_ = false;
  std::unique_ptr<PythonGradients> asked_;  // gradients of the current step, or the last one
};

/// Throws: TypeError, with what makes an optimizer of the class.
[[noreturn]] void throw_class(const py::object& made) {
  const std::string name(py::str(made.attr("__name__")));
  const bool is_torch = std::string(py::str(made.attr("__module__"))).starts_with("torch.optim");
  throw TypeError(fmt::format(
      "d5.optimizer: which is {}, a class; expected a name, a class of d5.UpdateRule, or an object "
      "of d5.Optimizer: {}",
      shown(made),
      is_torch ? fmt::format("d5.torch.Optimizer(torch.optim.{}, learning_rate=...)", name)
               : fmt::format("{}(...)", name)));
}

}  // namespace

std::shared_ptr<Optimizer> to_optimizer(const py::object& self,
                                        std::shared_ptr<GraphExecutor> executor, std::string loss) {
  if (self.is_none()) {
    throw TypeError(
        "d5.optimizer: which is None, expected a name, a class of d5.UpdateRule, or an object of "
        "d5.Optimizer");
  }
  const py::object kind = py::type::of(self);
  if (std::string(py::str(kind.attr("__module__"))).starts_with("torch.optim")) throw_class(kind);
  if (py::isinstance<Optimizer>(self)) {
    throw TypeError(
        fmt::format("{} already trains its own network; expected a name, or an object of a class "
                    "in Python that derives from d5.Optimizer",
                    shown(self)));
  }
  if (PyType_Check(self.ptr())) throw_class(self);
  return std::make_shared<PythonOptimizer>(self, executor, std::move(loss));
}

}  // namespace d5::python
