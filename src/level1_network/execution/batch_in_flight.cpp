// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level1_network/execution/plan_executor.hpp"

namespace d5 {

/// A batch in flight. It owns a plan, and returns it at the end.
class PlanExecutor::Flight final : public BatchInFlight {
 public:
  /// `outputs` are those of its forward run.
  Flight(PlanExecutor& executor, std::unique_ptr<Plan> plan, const ValueMap& outputs)
      : executor_(executor),
        plan_(std::move(plan)),
        whole_(!executor.ended_early_),
        outputs_(whole_ ? ValueMap{} : outputs),
        revision_(executor.revision_),
        run_(executor.state_.run) {}
  ~Flight() override {
    executor_.current_ = executor_.last_ = nullptr;  // the cache may drop them
    if (revision_ == executor_.revision_) executor_.plans_.add(std::move(plan_));
  }

  const ValueMap& outputs() const override { return whole_ ? plan_->outputs : outputs_; }

  void backward(const ValueMap& output_gradients) override {
    if (!whole_) throw ValueError("this batch's forward run was ended early; run it again");
    if (done_) throw ValueError("this batch has run backward already; run it forward again");
    for (auto& [name, seed] : plan_->seeds) {
      const TensorDesc& desc = plan_->outputs.at(name).tensor().desc();
      const auto given = output_gradients.find(name);
      *seed = given == output_gradients.end() ? Tensor::zeros(desc.dtype, desc.shape)
                                              : checked(name, given->second, desc).copy();
    }
    for (const auto& [name, gradient] : output_gradients) expect_seed(name);
    done_ = true;
    executor_.go_back(*plan_, run_);
    has_gradients_ = !executor_.ended_early_;
  }

  const Tensor& gradient(std::string_view name) const override {
    return gradient_of(has_gradients_ ? plan_.get() : nullptr, name);
  }

 private:
  static const Tensor& checked(const std::string& name, const Value& given,
                               const TensorDesc& expected) {
    const Tensor& tensor = given.tensor();
    if (tensor.desc() == expected) return tensor;
    const auto message =
        fmt::format("the gradient of output '{}' is {}, expected {}", printable(name),
                    to_string(tensor.desc()), to_string(expected));
    if (tensor.dtype() != expected.dtype) throw TypeError(message);
    throw ShapeError(message);
  }
  void expect_seed(const std::string& name) const {
    if (plan_->seeds.contains(name)) return;
    std::vector<std::string> known;
    for (const auto& [other, seed] : plan_->seeds) known.push_back(other);
    throw_unknown_name("output that backward begins at", name, known);
  }

  PlanExecutor& executor_;
  std::unique_ptr<Plan> plan_;
  bool whole_;        ///< its forward run
  ValueMap outputs_;  ///< outputs, if they are not in the plan
  std::uint64_t revision_;
  std::uint32_t run_;  ///< number of the run whose random numbers repeated graphs draw
  bool done_ = false, has_gradients_ = false;
};

std::unique_ptr<BatchInFlight> PlanExecutor::forward(const ValueMap& inputs,
                                                     const std::vector<std::string>& outputs) {
  if (options_.device != Device{}) {
    throw Unsupported(
        "gradients of outputs can be given only to executors on the host; this one computes on " +
        to_string(options_.device));
  }
  const WithinRun within(within_run_);
  if (outputs.empty()) throw ValueError("forward: name the outputs at which backward will begin");
  (void)network_.parameters();  // laying them out counts as an edit
  const Runnable& runnable = up_to_date();
  const Start start{.seeds = {outputs.begin(), outputs.end()}};
  std::unique_ptr<Plan> plan =
      plans_.take([&](const Plan& other) { return serves(other, runnable, inputs, start); });
  if (!plan) plan = make_plan(runnable, inputs, start);
  begin(*plan, inputs);
  const ValueMap& computed = run(*plan, Pass::forward);
  return std::make_unique<Flight>(*this, std::move(plan), computed);
}

std::unique_ptr<BatchInFlight> GraphExecutor::forward(const ValueMap&,
                                                      const std::vector<std::string>&) {
  throw Unsupported(
      fmt::format("{}'s own executor cannot run forward and backward separately; make_executor "
                  "can, with its kernels",
                  framework()));
}

void GraphExecutor::set_loss_factor(double factor) {
  if (factor == 1) return;
  throw Unsupported(fmt::format(
      "{}'s own executor cannot scale the loss (by {}); make_executor can, with its kernels",
      framework(), factor));
}

void GraphExecutor::end_run() {
  throw Unsupported(
      fmt::format("{}'s own executor cannot end a run early; make_executor can, with "
                  "its kernels",
                  framework()));
}

}  // namespace d5
