// SPDX-License-Identifier: Apache-2.0
// Adam, Momentum, Adagrad of ai.onnx.preview.training: one step of an optimizer, with its state as
// input and output tensors.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/update_rules.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::detail {
namespace {

/// A dual number: a value and its derivative by one variable, for forward-mode differentiation.
///
///     Dual x{2, 1};              // x itself has slope 1
///     Dual y = x * x + 3;        // y.value is 7, y.slope is 4
struct Dual {
  double value = 0, slope = 0;

  /// A constant.
  Dual(double number = 0, double slope_of_it = 0) : value(number), slope(slope_of_it) {}

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(Dual a, Dual b) {
    const double quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  /// The slope is 0 for constants, also at zero.
  friend Dual sqrt(Dual a) {
    const double root = std::sqrt(a.value);
    return {root, a.slope == 0 ? 0 : a.slope / (2 * root)};
  }
};

}  // namespace
}  // namespace d5::detail

namespace d5::ops {
namespace {

namespace training = onnx::nodes::training;
using detail::AdagradRule;
using detail::AdamRule;
using detail::Dual;
using detail::MomentumRule;

constexpr std::size_t kFirst = 2;  // inputs before the first parameter

/// The number of parameters of a node with `inputs` inputs, for the rule's number of states.
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
               [&]<class T>() { steps_.push_back({step<T>, step_back<T>}); });
    }
  }

  void forward(OpContext& context) override {
    double rate;
    read_rate_.run(&rate, context.input(0).raw(), 1);
    const auto count = double(context.input(1).item<std::int64_t>());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].forward(rule_, rate, count, context, steps_.size(), i);
    }
  }

  void backward(GradContext& context) override {
    double rate, slope_of_rate = 0;
    read_rate_.run(&rate, context.input(0).raw(), 1);
    const auto count = double(context.input(1).item<std::int64_t>());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      slope_of_rate += steps_[i].backward(rule_, rate, count, context, steps_.size(), i);
    }
    if (!context.wants_grad(0)) return;
    Tensor& to = context.grad_input(0);
    dispatch(RealTypes{}, to.dtype(), Rule::View::kName,
             [&]<class T>() { *to.data<T>() = T(slope_of_rate); });
  }

  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  struct Step {
    void (*forward)(const Rule&, double rate, double count, OpContext&, std::size_t n,
                    std::size_t i);
    /// Returns its contribution to the gradient of the rate.
    double (*backward)(const Rule&, double rate, double count, GradContext&, std::size_t n,
                       std::size_t i);
  };

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

  /// Each input in turn is the variable of the duals: rate, parameter, gradient, states.
  template <class T>
  static double step_back(const Rule& rule, double rate, double count, GradContext& context,
                          std::size_t n, std::size_t i) {
    constexpr std::size_t kValues = 2 + Rule::kStates;
    const T *values[kValues], *arriving[1 + Rule::kStates];
    T* wanted[kValues];
    for (std::size_t v = 0; v < kValues; ++v) {
      values[v] = context.input(kFirst + v * n + i).template data<T>();
      wanted[v] = detail::zeroed_gradient<T>(context, kFirst + v * n + i);
    }
    for (std::size_t v = 0; v <= Rule::kStates; ++v) {
      arriving[v] = detail::arriving_gradient<T>(context, v * n + i);
    }
    const std::int64_t elements = context.input(kFirst + i).elements();
    double slope_of_rate = 0;
    for (std::int64_t k = 0; k < elements; ++k) {
      for (std::size_t variable = 0; variable <= kValues; ++variable) {
        Dual in[kValues];
        for (std::size_t v = 0; v < kValues; ++v) in[v] = {values[v][k], double(v + 1 == variable)};
        Dual* state = in + 2;
        const Dual x = rule.update(Dual(rate, variable == 0), count, in[0], in[1], state);
        double slope = arriving[0] ? double(arriving[0][k]) * x.slope : 0;
        for (std::size_t s = 0; s < Rule::kStates; ++s) {
          if (arriving[1 + s]) slope += double(arriving[1 + s][k]) * state[s].slope;
        }
        if (variable == 0) {
          slope_of_rate += slope;
        } else if (wanted[variable - 1]) {
          wanted[variable - 1][k] = T(slope);
        }
      }
    }
    return slope_of_rate;
  }

  const Rule& rule_;
  detail::Conversion read_rate_;
  std::vector<Step> steps_;  // one per parameter: each may have its own type
};

/// Inputs: learning rate, update count, then n parameters, n gradients, and n of each state.
/// Outputs: n parameters, n of each state.
/// Shapes: a parameter, its gradient and its states have the same shape; rate and count are
/// scalars.
template <class Rule>
class OptimizerUpdate final : public Operator {
 public:
  explicit OptimizerUpdate(const typename Rule::View& view) : rule_(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    constexpr std::size_t kGroups = 2 + Rule::kStates;  // parameter, gradient, states
    if (context.input_count() < kFirst + kGroups ||
        (context.input_count() - kFirst) % kGroups != 0) {
      throw ShapeError(fmt::format("{}: {} inputs after rate and count, expected {} per parameter",
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

  Places gradients() const override { return Places::all(); }

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
  /// A step must not omit a state.
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

}  // namespace

void register_optimizer_update(OperatorRegistry& registry) {
  registry.add<OptimizerUpdate<AdamRule>, training::Adam>();
  registry.add<OptimizerUpdate<MomentumRule>, training::Momentum>();
  registry.add<OptimizerUpdate<AdagradRule>, training::Adagrad>();
}

}  // namespace d5::ops
