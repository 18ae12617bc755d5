// SPDX-License-Identifier: Apache-2.0
#include "fused_optimizer.hpp"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/InferenceMode.h>

#include "d5/core/trace.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "tensor_view.hpp"

namespace d5::torch {
namespace {

/// Runs the network, then one of torch's fused updates on all parameters at once.
class FusedOptimizer : public Optimizer {
 public:
  FusedOptimizer(std::unique_ptr<GraphExecutor> executor, std::string loss)
      : executor_(std::move(executor)), loss_(std::move(loss)) {
    const c10::InferenceMode without_autograd;
    for (Parameter& parameter : network().parameters()) {
      parameters_.push_back(wrap(parameter.value));
      gradients_.push_back(wrap(parameter.gradient));
    }
  }

  const ValueMap& step(const Batch& batch) override {
    const ValueMap& outputs = executor_->inference_and_backprop(feed_.of(network(), batch), loss_);
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
  std::unique_ptr<GraphExecutor> executor_;
  std::string loss_;
  BatchFeed feed_;
};

struct SgdOptions {
  double learning_rate, momentum, weight_decay;
  bool nesterov;
};

class Sgd final : public FusedOptimizer {
 public:
  Sgd(std::unique_ptr<GraphExecutor> executor, std::string loss, SgdOptions options)
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
  SgdOptions options_;
  ParameterSlots velocities_;
  std::vector<at::Tensor> velocity_views_;
};

struct AdamOptions {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
};

class Adam final : public FusedOptimizer {
 public:
  Adam(std::unique_ptr<GraphExecutor> executor, std::string loss, AdamOptions options)
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
  // The same settings and defaults as d5's optimizers of these names.
  registry.add("sgd",
               {"torch's fused SGD", [](auto executor, std::string loss, const Settings& settings) {
                  const SgdOptions options{.learning_rate = settings.number("learning_rate", 0.01),
                                           .momentum = 0,
                                           .weight_decay = settings.number("weight_decay", 0),
                                           .nesterov = false};
                  settings.expect_all_read();
                  return std::make_unique<Sgd>(std::move(executor), std::move(loss), options);
                }});
  registry.add("momentum",
               {"torch's fused SGD with momentum",
                [](auto executor, std::string loss, const Settings& settings) {
                  const SgdOptions options{.learning_rate = settings.number("learning_rate", 0.01),
                                           .momentum = settings.number("momentum", 0.9),
                                           .weight_decay = settings.number("weight_decay", 0),
                                           .nesterov = settings.flag("nesterov", false)};
                  settings.expect_all_read();
                  return std::make_unique<Sgd>(std::move(executor), std::move(loss), options);
                }});
  registry.add(
      "adam", {"torch's fused Adam", [](auto executor, std::string loss, const Settings& settings) {
                 const AdamOptions options{.learning_rate = settings.number("learning_rate", 1e-3),
                                           .beta1 = settings.number("beta1", 0.9),
                                           .beta2 = settings.number("beta2", 0.999),
                                           .epsilon = settings.number("epsilon", 1e-8),
                                           .weight_decay = settings.number("weight_decay", 0)};
                 settings.expect_all_read();
                 return std::make_unique<Adam>(std::move(executor), std::move(loss), options);
               }});
}

}  // namespace d5::torch
