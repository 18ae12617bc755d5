// SPDX-License-Identifier: Apache-2.0
// Adam, Momentum, Adagrad of ai.onnx.preview.training: one step of an optimizer; its state comes in
// and goes out as tensors.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

namespace training = onnx::nodes::training;

/// Inputs: learning rate, update count, then n parameters, n gradients, and n of each state.
/// Outputs: n parameters, n of each state.
/// Shapes: parameter, gradient and states that belong together have one shape.
template <class Rule>
class OptimizerUpdate final : public Operator {
 public:
  explicit OptimizerUpdate(const onnx::Node& node) : rule_(node) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const std::size_t groups = 2 + Rule::kStates;  // parameter, gradient, states
    if (context.input_count() < kFirst + groups || (context.input_count() - kFirst) % groups != 0) {
      throw ShapeError(fmt::format("{}: {} inputs after rate and count, expected {} a parameter",
                                   context.who(), context.input_count() - kFirst, groups));
    }
    const std::size_t n = (context.input_count() - kFirst) / groups;
    std::vector<ValueDesc> result;
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t i = 0; i < n; ++i) {
        const TensorDesc& desc = context.input(kFirst + g * n + i);
        if (desc != context.input(kFirst + i)) {
          throw ShapeError(fmt::format("{}: input {} is {} but its parameter is {}", context.who(),
                                       kFirst + g * n + i, to_string(desc),
                                       to_string(context.input(kFirst + i))));
        }
        if (g != 1) result.push_back(desc);
      }
    }
    return result;
  }

  void forward(OpContext& context) override {
    const std::size_t n = (context.input_count() - kFirst) / (2 + Rule::kStates);
    const auto count = double(context.input(1).item<std::int64_t>());
    for (std::size_t i = 0; i < n; ++i) {
      dispatch(RealTypes{}, context.input(kFirst + i).dtype(), Rule::kName, [&]<class T>() {
        const double rate = read_rate(context.input(0));
        const T* x = context.input(kFirst + i).template data<T>();
        const T* gradient = context.input(kFirst + n + i).template data<T>();
        T* x_new = context.output(i).template data<T>();
        const T* state[Rule::kStates];
        T* state_new[Rule::kStates];
        for (std::size_t s = 0; s < Rule::kStates; ++s) {
          state[s] = context.input(kFirst + (2 + s) * n + i).template data<T>();
          state_new[s] = context.output((1 + s) * n + i).template data<T>();
        }
        const std::int64_t elements = context.output(i).elements();
        for (std::int64_t k = 0; k < elements; ++k) {
          double values[Rule::kStates];
          for (std::size_t s = 0; s < Rule::kStates; ++s) values[s] = state[s][k];
          x_new[k] = T(rule_.update(rate, count, double(x[k]), double(gradient[k]), values));
          for (std::size_t s = 0; s < Rule::kStates; ++s) state_new[s][k] = T(values[s]);
        }
      });
    }
  }

 private:
  static constexpr std::size_t kFirst = 2;
  static double read_rate(const Tensor& rate) {
    return rate.dtype() == DType::float64 ? rate.item<double>() : double(rate.item<float>());
  }
  Rule rule_;
};

/// State: exponential averages of the gradient and of its square.
/// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015).
struct AdamRule {
  static constexpr std::string_view kName = "Adam";
  static constexpr std::size_t kStates = 2;
  explicit AdamRule(const onnx::Node& node)
      : alpha(training::Adam(node).alpha()),
        beta(training::Adam(node).beta()),
        epsilon(training::Adam(node).epsilon()),
        decay(training::Adam(node).norm_coefficient()),
        decay_after(training::Adam(node).norm_coefficient_post()) {}

  double update(double rate, double count, double x, double gradient, double* state) const {
    gradient += decay * x;
    state[0] = alpha * state[0] + (1 - alpha) * gradient;
    state[1] = beta * state[1] + (1 - beta) * gradient * gradient;
    if (count > 0) rate *= std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count));
    return (1 - decay_after) * (x - rate * state[0] / (std::sqrt(state[1]) + epsilon));
  }

  double alpha, beta, epsilon, decay, decay_after;
};

/// State: the momentum.
struct MomentumRule {
  static constexpr std::string_view kName = "Momentum";
  static constexpr std::size_t kStates = 1;
  explicit MomentumRule(const onnx::Node& node)
      : alpha(training::Momentum(node).alpha()),
        beta(training::Momentum(node).beta()),
        decay(training::Momentum(node).norm_coefficient()),
        nesterov(training::Momentum(node).mode() == "nesterov") {
    const std::string mode = training::Momentum(node).mode();
    if (mode != "nesterov" && mode != "standard") {
      throw ValueError(fmt::format("{}: mode is {}, expected standard or nesterov",
                                   onnx::describe(node), printable(mode)));
    }
  }

  double update(double rate, double count, double x, double gradient, double* state) const {
    gradient += decay * x;
    state[0] = alpha * state[0] + (count > 0 ? beta : 1) * gradient;
    return x - rate * (nesterov ? gradient + alpha * state[0] : state[0]);
  }

  double alpha, beta, decay;
  bool nesterov;
};

/// State: the sum of the squared gradients.
/// Source: Duchi et al., "Adaptive Subgradient Methods for Online Learning and Stochastic
/// Optimization" (2011).
struct AdagradRule {
  static constexpr std::string_view kName = "Adagrad";
  static constexpr std::size_t kStates = 1;
  explicit AdagradRule(const onnx::Node& node)
      : rate_decay(training::Adagrad(node).decay_factor()),
        epsilon(training::Adagrad(node).epsilon()),
        decay(training::Adagrad(node).norm_coefficient()) {}

  double update(double rate, double count, double x, double gradient, double* state) const {
    gradient += decay * x;
    state[0] += gradient * gradient;
    return x - rate / (1 + count * rate_decay) * gradient / (std::sqrt(state[0]) + epsilon);
  }

  double rate_decay, epsilon, decay;
};

}  // namespace

void register_optimizer_update(OperatorRegistry& registry) {
  const OperatorVersions versions{.domain = "ai.onnx.preview.training"};
  registry.add<OptimizerUpdate<AdamRule>>("Adam", versions);
  registry.add<OptimizerUpdate<MomentumRule>>("Momentum", versions);
  registry.add<OptimizerUpdate<AdagradRule>>("Adagrad", versions);
}

}  // namespace d5::ops
