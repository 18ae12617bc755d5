// SPDX-License-Identifier: Apache-2.0
// Adam, Momentum, Adagrad of ai.onnx.preview.training: one step of an optimizer, whose state is
// passed in and out as tensors.
#include <ATen/ops/sqrt.h>

#include <cmath>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace training = onnx::nodes::training;

/// The learning rate, and the number of previous steps.
struct Progress {
  at::Tensor rate;
  double count;
};

struct AdamRule {
  using View = training::Adam;
  static constexpr std::size_t kStates = 2;
  explicit AdamRule(const View& view)
      : alpha(view.alpha()),
        beta(view.beta()),
        epsilon(view.epsilon()),
        decay(view.norm_coefficient()),
        decay_after(view.norm_coefficient_post()) {}

  at::Tensor step(const Progress& p, const at::Tensor& x, const at::Tensor& gradient,
                  at::Tensor* state) const {
    const at::Tensor g = gradient + x * decay;
    state[0] = state[0] * alpha + g * (1 - alpha);
    state[1] = state[1] * beta + g * g * (1 - beta);
    const double correction =
        p.count > 0 ? std::sqrt(1 - std::pow(beta, p.count)) / (1 - std::pow(alpha, p.count)) : 1;
    const at::Tensor moved = x - state[0] * (p.rate * correction) / (at::sqrt(state[1]) + epsilon);
    return moved * (1 - decay_after);
  }

  double alpha, beta, epsilon, decay, decay_after;
};

struct MomentumRule {
  using View = training::Momentum;
  static constexpr std::size_t kStates = 1;
  explicit MomentumRule(const View& view)
      : alpha(view.alpha()),
        beta(view.beta()),
        decay(view.norm_coefficient()),
        nesterov(view.mode() == "nesterov") {}

  at::Tensor step(const Progress& p, const at::Tensor& x, const at::Tensor& gradient,
                  at::Tensor* state) const {
    const at::Tensor g = gradient + x * decay;
    state[0] = state[0] * alpha + g * (p.count > 0 ? beta : 1);
    return x - (nesterov ? g + state[0] * alpha : state[0]) * p.rate;
  }

  double alpha, beta, decay;
  bool nesterov;
};

struct AdagradRule {
  using View = training::Adagrad;
  static constexpr std::size_t kStates = 1;
  explicit AdagradRule(const View& view)
      : rate_decay(view.decay_factor()), epsilon(view.epsilon()), decay(view.norm_coefficient()) {}

  at::Tensor step(const Progress& p, const at::Tensor& x, const at::Tensor& gradient,
                  at::Tensor* state) const {
    const at::Tensor g = gradient + x * decay;
    state[0] = state[0] + g * g;
    return x - g * (p.rate / (1 + p.count * rate_decay)) / (at::sqrt(state[0]) + epsilon);
  }

  double rate_decay, epsilon, decay;
};

/// Inputs: learning rate, update count, then n parameters, n gradients, and n of each state.
/// Outputs: n parameters, n of each state.
template <class Rule>
class OptimizerUpdate final : public TorchKernel {
 public:
  explicit OptimizerUpdate(const PlanContext& context)
      : TorchKernel(context), rule_(typename Rule::View(context.node())) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const double count = inputs[1].item().toDouble();
    const std::size_t n = results.size() / (1 + Rule::kStates);
    for (std::size_t i = 0; i < n; ++i) {
      at::Tensor state[Rule::kStates];
      for (std::size_t s = 0; s < Rule::kStates; ++s) state[s] = inputs[2 + (2 + s) * n + i];
      const at::Tensor& x = inputs[2 + i];
      const Progress progress{inputs[0].reshape({}).to(x.scalar_type()), count};
      results[i] = rule_.step(progress, x, inputs[2 + n + i], state);
      for (std::size_t s = 0; s < Rule::kStates; ++s) results[(1 + s) * n + i] = state[s];
    }
  }

 private:
  Rule rule_;
};

template <class Rule>
void add_update(OperatorRegistry& registry) {
  add<OptimizerUpdate<Rule>, typename Rule::View>(registry, computes);
}

}  // namespace

void register_optimizer_update(OperatorRegistry& registry) {
  add_update<AdamRule>(registry);
  add_update<MomentumRule>(registry);
  add_update<AdagradRule>(registry);
}

}  // namespace d5::torch
