// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/tensor_update.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"
#include "part_kind.hpp"

namespace d5::python {

/// An object of d5.UpdateRule: a formula of one parameter, its gradient and its remembered tensors.
class PythonRule final : public UpdateRule {
 public:
  /// Call with the GIL. Throws: TypeError for a class without `update`.
  PythonRule(SharedEntry entry, PythonOptions options);

  void declare(OptionList& options) override { options_.declare(options); }
  [[nodiscard]] std::vector<std::string> slots() const override { return slots_; }
  [[nodiscard]] Shape slot_shape(std::size_t slot, const Shape& parameter) const override;
  [[nodiscard]] std::vector<std::string> numbers() const override { return numbers_; }
  void begin_step(std::int64_t step, std::span<double> numbers) override {
    begin_step(step, numbers, options_);
  }
  /// The same with options that are stored elsewhere.
  void begin_step(std::int64_t step, std::span<double> numbers, const PythonOptions& options);
  [[nodiscard]] bool has_formula_of(const UpdateRule& other) const override;
  void update(std::span<const RuleParameter> parameters) override;
  void update(const Tensor& gradient, Parameter& parameter, std::span<Tensor* const> slots,
              float* master);
  /// Throws: ValueError for an option that the object does not keep under its name, so that nothing
  /// changes if it does. Call with the GIL.
  void expect_kept(const std::string& option) const;

 private:
  SharedEntry entry_;
  PythonOptions options_;
  PythonReference self_;
  std::vector<std::string> slots_, numbers_;
  bool begins_ = false, shapes_slots_ = false;
  bool is_seen_ = false;  // whether the first update is over
  TensorUpdater updater_;
};

/// Throws: ValueError for a schedule of an option that an optimizer's rule in Python does not keep.
/// Call with the GIL.
void expect_kept(const Optimizer& optimizer, const std::string& option);

/// Whether it is a class derived from d5.UpdateRule, or an object of one. Call with the GIL.
[[nodiscard]] bool is_update_rule(const py::handle& which);
/// The optimizer of such a class or object, which needs no registered name. An object's attributes
/// are the defaults of its options. Call with the GIL.
[[nodiscard]] std::shared_ptr<Optimizer> optimizer_of_rule(const py::object& rule,
                                                           std::shared_ptr<GraphExecutor> executor,
                                                           const std::string& loss,
                                                           const py::kwargs& options);

}  // namespace d5::python
