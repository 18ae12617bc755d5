// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/update_rule.hpp"

#include "d5/level2_training/optimization/grouped_options.hpp"
#include "d5/level2_training/optimization/slotted_optimizer.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/python_rule.hpp"

namespace d5::python {
namespace {

using RuleOptions = GroupedOptions<PythonOptions>;

/// The optimizer of a rule in Python: its groups, slots and master copies.
class PythonRuleOptimizer final : public SlottedOptimizer {
 public:
  /// `first` is the rule of parameters in no group. Call with the GIL.
  PythonRuleOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                      const RuleOptions& options, const SharedEntry& entry, const PythonRule& first)
      : SlottedOptimizer(std::move(executor), std::move(loss), first.slots(), shapes_of(first)),
        entry_(entry),
        names_(first.numbers()),
        groups_(options, this->executor().network(), hyper_parameters()) {
    for (std::size_t g = 0; g < groups_.count(); ++g) {
      rules_.push_back(std::make_unique<PythonRule>(entry, groups_.group(g)));
    }
    numbers_.assign(groups_.count(), std::vector<double>(names_.size()));
  }

  void begin_update() override {
    SlottedOptimizer::begin_update();
    for (std::size_t g = 0; g < groups_.count(); ++g) {
      rules_[g]->begin_step(step_number(), numbers_[g], groups_.group(g));
    }
  }
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    expect_begun(index);
    std::vector<Tensor*> slots;
    for (std::size_t s = 0; s < rules_[0]->slots().size(); ++s) slots.push_back(&slot(s, index));
    rules_[groups_.group_of(index)]->update(gradient, parameter, slots, master(index));
  }
  [[nodiscard]] ValueMap rule_state() const override {
    ValueMap state = SlottedOptimizer::rule_state();
    for (std::size_t n = 0; n < names_.size(); ++n) {
      Tensor values = Tensor::empty(DType::float64, {std::int64_t(numbers_.size())});
      for (std::size_t g = 0; g < numbers_.size(); ++g) values.data<double>()[g] = numbers_[g][n];
      state[names_[n]] = std::move(values);
    }
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    SlottedOptimizer::restore_rule(state);
    for (std::size_t n = 0; n < names_.size(); ++n) {
      Tensor values = Tensor::empty(DType::float64, {std::int64_t(numbers_.size())});
      values.copy_from(state_entry(state, names_[n], "optimizer"));
      for (std::size_t g = 0; g < numbers_.size(); ++g) numbers_[g][n] = values.data<double>()[g];
    }
  }
  void expect_kept(const std::string& option) const { rules_.front()->expect_kept(option); }
  [[nodiscard]] std::vector<RuleGroup> rule_groups() const override {
    const py::gil_scoped_acquire gil;
    std::vector<RuleGroup> result;
    for (std::size_t g = 0; g < groups_.count(); ++g) {
      result.push_back({std::make_unique<PythonRule>(entry_, groups_.group(g)), {}});
    }
    Network& network = const_cast<PythonRuleOptimizer*>(this)->executor().network();
    for (std::size_t i = 0; i < network.parameters().size(); ++i) {
      result[groups_.group_of(i)].parameters.push_back(i);
    }
    return result;
  }

 private:
  static SlotShape shapes_of(const PythonRule& rule) {
    return [&rule](std::size_t slot, Network& network, std::size_t parameter) {
      return rule.slot_shape(slot, network.parameters()[parameter].value.shape());
    };
  }

  SharedEntry entry_;
  std::vector<std::string> names_;  // names of the numbers
  ParameterGroups<PythonOptions> groups_;
  std::vector<std::unique_ptr<PythonRule>> rules_;  // by group
  std::vector<std::vector<double>> numbers_;        // by group
};

OptimizerEntry optimizer_entry(const std::string& summary, const SharedEntry& entry) {
  RuleOptions options;
  options.rule = entry->options;
  const auto make = [entry](std::shared_ptr<GraphExecutor> executor, std::string loss,
                            const RuleOptions& own) -> std::shared_ptr<Optimizer> {
    const py::gil_scoped_acquire gil;
    const PythonRule first(entry, own.rule);
    return std::make_shared<PythonRuleOptimizer>(std::move(executor), std::move(loss), own, entry,
                                                 first);
  };
  return OptimizerEntry::with<RuleOptions>(summary, make, options);
}

}  // namespace

void expect_kept(const Optimizer& optimizer, const std::string& option) {
  const auto* ours = dynamic_cast<const PythonRuleOptimizer*>(&optimizer);
  if (ours) ours->expect_kept(option);
}

bool is_update_rule(const py::handle& which) {
  return py::module_::import("d5._entries").attr("is_update_rule")(which).cast<bool>();
}

std::shared_ptr<Optimizer> optimizer_of_rule(const py::object& rule,
                                             std::shared_ptr<GraphExecutor> executor,
                                             const std::string& loss, const py::kwargs& options) {
  const auto told = py::module_::import("d5._entries").attr("rule_entry")(rule);
  const auto [name, made, declared] =
      told.cast<std::tuple<std::string, py::object, std::vector<PythonOption>>>();
  const auto entry = std::make_shared<PythonEntry>();
  entry->name = name;
  entry->who = "update rule " + name;
  entry->options.all = declared;
  entry->made = std::make_shared<PythonReference>(made);
  OptimizerEntry whole = optimizer_entry("a rule in Python", entry);
  whole.set_who("optimizer " + name);
  return whole.make(std::move(executor), loss,
                    entry_settings(options, "d5.optimizer", whole.options()));
}

void register_update_rule(py::module_&) {
  const auto add = [](const std::string& summary, const SharedEntry& entry) {
    optimizers().add(entry->name, optimizer_entry(summary, entry));
  };
  part_kinds().add("update rule", {.base = "UpdateRule", .needs = 0, .add = add});
}

}  // namespace d5::python
