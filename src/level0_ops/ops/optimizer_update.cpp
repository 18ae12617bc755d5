// SPDX-License-Identifier: Apache-2.0
// Adam, Momentum, Adagrad of ai.onnx.preview.training: one step of an optimizer; its state comes in
// and goes out as tensors.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/conversion.hpp"

namespace d5::ops {
namespace {

namespace training = onnx::nodes::training;

constexpr std::size_t kFirst = 2;  // inputs before the first parameter

/// The parameters of a node with `inputs`, for a rule with so many states.
template <class Rule>
constexpr std::size_t parameters(std::size_t inputs) {
  return (inputs - kFirst) / (2 + Rule::kStates);
}

template <class Rule>
class UpdateKernel final : public Kernel {
 public:
  UpdateKernel(const Rule& rule, const PlanContext& context)
      : rule_(rule), read_rate_(context.dtype(0), DType::float64) {
    for (std::size_t i = 0; i < parameters<Rule>(context.input_count()); ++i) {
      const DType dtype = context.dtype(kFirst + i);
      detail::expect_type(RealTypes{}, dtype, context, "kernel");
      dispatch(RealTypes{}, dtype, Rule::View::kName,
               [&]<class T>() { steps_.push_back(step<T>); });
    }
  }

  void forward(OpContext& context) override {
    double rate;
    read_rate_.run(&rate, context.input(0).raw(), 1);
    const auto count = double(context.input(1).item<std::int64_t>());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i](rule_, rate, count, context, steps_.size(), i);
    }
  }

 private:
  using Step = void (*)(const Rule&, double rate, double count, OpContext&, std::size_t n,
                        std::size_t i);

  /// Parameter `i` of `n`.
  template <class T>
  static void step(const Rule& rule, double rate, double count, OpContext& context, std::size_t n,
                   std::size_t i) {
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
      x_new[k] = T(rule.update(rate, count, double(x[k]), double(gradient[k]), values));
      for (std::size_t s = 0; s < Rule::kStates; ++s) state_new[s][k] = T(values[s]);
    }
  }

  const Rule& rule_;
  detail::Conversion read_rate_;
  std::vector<Step> steps_;  // one a parameter: each may have its own type
};

/// Inputs: learning rate, update count, then n parameters, n gradients, and n of each state.
/// Outputs: n parameters, n of each state.
/// Shapes: parameter, gradient and states that belong together have one shape; rate and count are
/// scalars.
template <class Rule>
class OptimizerUpdate final : public Operator {
 public:
  explicit OptimizerUpdate(const typename Rule::View& view) : rule_(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    constexpr std::size_t kGroups = 2 + Rule::kStates;  // parameter, gradient, states
    if (context.input_count() < kFirst + kGroups ||
        (context.input_count() - kFirst) % kGroups != 0) {
      throw ShapeError(fmt::format("{}: {} inputs after rate and count, expected {} a parameter",
                                   context.who(), context.input_count() - kFirst, kGroups));
    }
    for (const std::size_t i : {0, 1}) {
      if (context.shape(i).elements() != 1) {
        throw ShapeError(fmt::format("{}: input {} is {}, expected one element", context.who(), i,
                                     to_string(context.shape(i))));
      }
    }
    const std::size_t n = parameters<Rule>(context.input_count());
    check_outputs(context, (1 + Rule::kStates) * n);
    std::vector<ValueDesc> result;
    for (std::size_t g = 0; g < kGroups; ++g) {
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

  Cost cost(const InferContext& context) const override {
    double elements = 0;
    for (std::size_t i = 0; i < parameters<Rule>(context.input_count()); ++i) {
      elements += double(context.shape(kFirst + i).elements());
    }
    return with_flop(context, rule_.flop() * elements);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    detail::expect_type(RealTypes{}, context.dtype(0), context, "learning rate");
    return std::make_unique<UpdateKernel<Rule>>(rule_, context);
  }

 private:
  /// A step that leaves a state out would not be the optimizer's.
  static void check_outputs(const InferContext& context, std::size_t expected) {
    std::size_t wanted = 0;
    for (std::size_t k = 0; k < context.output_count(); ++k) wanted += context.wants_output(k);
    if (wanted == expected && context.output_count() == expected) return;
    throw ShapeError(
        fmt::format("{}: {} outputs are wanted, expected {}: every parameter and state",
                    context.who(), wanted, expected));
  }

  Rule rule_;
};

/// State: exponential averages of the gradient and of its square.
/// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015).
struct AdamRule {
  using View = training::Adam;
  static constexpr std::size_t kStates = 2;
  explicit AdamRule(const View& view)
      : alpha(view.alpha()),
        beta(view.beta()),
        epsilon(view.epsilon()),
        decay(view.norm_coefficient()),
        decay_after(view.norm_coefficient_post()) {}

  double update(double rate, double count, double x, double gradient, double* state) const {
    gradient += decay * x;
    state[0] = alpha * state[0] + (1 - alpha) * gradient;
    state[1] = beta * state[1] + (1 - beta) * gradient * gradient;
    if (count > 0) rate *= std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count));
    return (1 - decay_after) * (x - rate * state[0] / (std::sqrt(state[1]) + epsilon));
  }

  double flop() const { return 15; }  // an element

  double alpha, beta, epsilon, decay, decay_after;
};

/// State: the momentum.
struct MomentumRule {
  using View = training::Momentum;
  static constexpr std::size_t kStates = 1;
  explicit MomentumRule(const View& view)
      : alpha(view.alpha()),
        beta(view.beta()),
        decay(view.norm_coefficient()),
        nesterov(view.mode() == "nesterov") {
    const std::string mode = view.mode();
    if (mode != "nesterov" && mode != "standard") {
      throw ValueError(fmt::format("{}: mode is {}, expected standard or nesterov",
                                   onnx::describe(view.node()), printable(mode)));
    }
  }

  double update(double rate, double count, double x, double gradient, double* state) const {
    gradient += decay * x;
    state[0] = alpha * state[0] + (count > 0 ? beta : 1) * gradient;
    return x - rate * (nesterov ? gradient + alpha * state[0] : state[0]);
  }

  double flop() const { return nesterov ? 9 : 7; }  // an element

  double alpha, beta, decay;
  bool nesterov;
};

/// State: the sum of the squared gradients.
/// Source: Duchi et al., "Adaptive Subgradient Methods for Online Learning and Stochastic
/// Optimization" (2011).
struct AdagradRule {
  using View = training::Adagrad;
  static constexpr std::size_t kStates = 1;
  explicit AdagradRule(const View& view)
      : rate_decay(view.decay_factor()), epsilon(view.epsilon()), decay(view.norm_coefficient()) {}

  double update(double rate, double count, double x, double gradient, double* state) const {
    gradient += decay * x;
    state[0] += gradient * gradient;
    return x - rate / (1 + count * rate_decay) * gradient / (std::sqrt(state[0]) + epsilon);
  }

  double flop() const { return 9; }  // an element

  double rate_decay, epsilon, decay;
};

}  // namespace

void register_optimizer_update(OperatorRegistry& registry) {
  registry.add<OptimizerUpdate<AdamRule>, training::Adam>();
  registry.add<OptimizerUpdate<MomentumRule>, training::Momentum>();
  registry.add<OptimizerUpdate<AdagradRule>, training::Adagrad>();
}

}  // namespace d5::ops
