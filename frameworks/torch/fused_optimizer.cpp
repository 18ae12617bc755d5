// SPDX-License-Identifier: Apache-2.0
#include "fused_optimizer.hpp"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/InferenceMode.h>

#include "d5/core/trace.hpp"
#include "d5/level2_training/optimizer_options.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "tensor_view.hpp"

namespace d5::torch {
namespace {

/// Runs the network, then one of torch's fused updates on all parameters at once.
class FusedOptimizer : public Optimizer {
 public:
  FusedOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss)
      : executor_(std::move(executor)), loss_(std::move(loss)) {
    const c10::InferenceMode without_autograd;
    for (Parameter& parameter : network().parameters()) {
      parameters_.push_back(wrap(parameter.value));
      gradients_.push_back(wrap(parameter.gradient));
    }
  }

  const ValueMap& step(const Batch& batch) override {
    const ValueMap& outputs = executor_->inference_and_backprop(feed_.of(network(), batch), loss_);
    if (executor_->ended_early()) return outputs;
    const c10::InferenceMode without_autograd;
    const Span span("training", "update");
    update();
    return outputs;
  }
  GraphExecutor& executor() override { return *executor_; }
  const std::string& loss() const override { return loss_; }

 protected:
  virtual void update() = 0;

  Network& network() { return executor_->network(); }
  /// d5's slots as torch's tensors.
  std::vector<at::Tensor> views(ParameterSlots& slots) const {
    const c10::InferenceMode without_autograd;
    std::vector<at::Tensor> result;
    for (std::size_t i = 0; i < parameters_.size(); ++i) result.push_back(wrap(slots[i]));
    return result;
  }

  std::vector<at::Tensor> parameters_, gradients_;

 private:
  std::shared_ptr<GraphExecutor> executor_;
  std::string loss_;
  BatchFeed feed_;
};

class Sgd final : public FusedOptimizer {
 public:
  using Options = MomentumOptions;
  Sgd(std::shared_ptr<GraphExecutor> executor, std::string loss, const MomentumOptions& options)
      : FusedOptimizer(std::move(executor), std::move(loss)),
        options_(options),
        velocities_("velocity", network()) {
    if (options_.momentum != 0) velocity_views_ = views(velocities_);
  }

  ValueMap state() const override {
    ValueMap state;
    if (options_.momentum != 0) velocities_.save(state);
    return state;
  }
  void restore(const ValueMap& state) override {
    if (options_.momentum != 0) velocities_.restore(state);
  }

 protected:
  void update() override {
    // Velocities begin with zero, so that the first step needs no special case.
    at::_fused_sgd_(parameters_, gradients_, velocity_views_, options_.weight_decay,
                    options_.momentum, options_.learning_rate, /*dampening=*/0, options_.nesterov,
                    /*maximize=*/false, /*is_first_step=*/false);
  }

 private:
  MomentumOptions options_;
  ParameterSlots velocities_;
  std::vector<at::Tensor> velocity_views_;
};

class Adam final : public FusedOptimizer {
 public:
  using Options = AdamOptions;
  Adam(std::shared_ptr<GraphExecutor> executor, std::string loss, const AdamOptions& options)
      : FusedOptimizer(std::move(executor), std::move(loss)),
        options_(options),
        first_("first_moment", network()),
        second_("second_moment", network()),
        first_views_(views(first_)),
        second_views_(views(second_)) {
    const c10::InferenceMode without_autograd;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      steps_.push_back(at::scalar_tensor(0, at::kFloat));
    }
  }

  ValueMap state() const override {
    ValueMap state{{"step", Tensor::scalar(step_)}};
    first_.save(state);
    second_.save(state);
    return state;
  }
  void restore(const ValueMap& state) override {
    step_ = state_entry(state, "step", "optimizer adam of torch").item<std::int64_t>();
    first_.restore(state);
    second_.restore(state);
  }

 protected:
  void update() override {
    ++step_;
    for (auto& step : steps_) step.fill_(double(step_));
    at::_fused_adam_(parameters_, gradients_, first_views_, second_views_, {}, steps_,
                     options_.learning_rate, options_.beta1, options_.beta2, options_.weight_decay,
                     options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }

 private:
  AdamOptions options_;
  ParameterSlots first_, second_;
  std::vector<at::Tensor> first_views_, second_views_, steps_;
  std::int64_t step_ = 0;
};

}  // namespace

void register_optimizers(NativeOptimizers& registry) {
  registry.add(
      "sgd",
      OptimizerEntry::with<SgdOptions>(
          "torch's fused SGD", [](auto executor, std::string loss, const SgdOptions& options) {
            return std::make_shared<Sgd>(std::move(executor), std::move(loss),
                                         MomentumOptions{.learning_rate = options.learning_rate,
                                                         .momentum = 0,
                                                         .weight_decay = options.weight_decay});
          }));
  registry.add("momentum", OptimizerEntry::of<Sgd>("torch's fused SGD with momentum"));
  registry.add("adam", OptimizerEntry::of<Adam>("torch's fused Adam"));
}

}  // namespace d5::torch
