// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/recurrent/recurrent_cell.hpp"
#include "level0_ops/kernels/recurrent/recurrent_kernel.hpp"

namespace d5::detail {

///     i, o, f = f(W x + R h + b [+ P c]);  g = g(W x + R h + b);  c' = f c + i g;  h' = o h(c')
///
/// The gates are in the order i, o, f, g ("iofc"). P ("peepholes") connects i and f with c, and o
/// with c'.
template <class A>
struct LstmCell : CellBase<A> {
  static constexpr std::int64_t kGates = 4;
  static constexpr bool kRemembers = true, kResets = false;

  void forward(const CellStep<A>& step) const {
    const std::int64_t size = this->hidden;
    const A* p = this->peepholes;
    A* sums = step.sums;
    for (std::int64_t j = 0; j < 4 * size; ++j) {
      sums[j] += step.recurrent[j] + this->bias_of(j) + this->bias_of(4 * size + j);
    }
    for (std::int64_t j = 0; j < size; ++j) {
      const A c = step.c[j];
      if (p) sums[j] += p[j] * c;
      if (p) sums[2 * size + j] += p[2 * size + j] * c;
      const A i = this->value(0, sums[j]);
      step.next_c[j] = forget(i, sums[2 * size + j]) * c + i * this->value(1, sums[3 * size + j]);
      if (p) sums[size + j] += p[size + j] * step.next_c[j];
      step.next_h[j] = this->value(0, sums[size + j]) * this->functions[2](step.next_c[j]);
    }
  }

  void backward(const CellStep<A>& step, const CellGradients<A>& d) const {
    const std::int64_t size = this->hidden;
    const A *p = this->peepholes, *sums = step.sums;
    for (std::int64_t j = 0; j < size; ++j) {
      const A i = this->value(0, sums[j]), o = this->value(0, sums[size + j]);
      const A f = forget(i, sums[2 * size + j]), g = this->value(1, sums[3 * size + j]);
      const A c = step.c[j], next_c = step.next_c[j];
      const A d_o = d.h[j] * this->functions[2](next_c) * this->slope(0, sums[size + j]);
      A d_c = d.c[j] + d.h[j] * o * this->functions[2].slope(next_c);
      if (p) d_c += d_o * p[size + j];
      const bool couples = this->rules.couples;
      const A d_i = d_c * (couples ? g - c : g) * this->slope(0, sums[j]);
      const A d_f = couples ? A(0) : d_c * c * this->slope(0, sums[2 * size + j]);
      d.h[j] = 0;
      d.c[j] = d_c * f;
      if (p) d.c[j] += d_i * p[j] + d_f * p[2 * size + j];
      d.sums[j] = d_i;
      d.sums[size + j] = d_o;
      d.sums[2 * size + j] = d_f;
      d.sums[3 * size + j] = d_c * i * this->slope(1, sums[3 * size + j]);
    }
    std::copy_n(d.sums, 4 * size, d.recurrent);
  }

  /// Adds a step's part of the gradient of P, from `gates`, the gradients of the sums, and the
  /// states multiplied by P.
  void add_peepholes(const A* gates, const A* c, const A* next_c, A* d) const {
    const std::int64_t size = this->hidden;
    for (std::int64_t j = 0; j < size; ++j) {
      d[j] += gates[j] * c[j];
      d[size + j] += gates[size + j] * next_c[j];
      d[2 * size + j] += gates[2 * size + j] * c[j];
    }
  }

 private:
  [[nodiscard]] A forget(A i, A sum) const {
    return this->rules.couples ? A(1) - i : this->value(0, sum);
  }
};

/// Source: Hochreiter and Schmidhuber, "Long Short-Term Memory" (1997).
struct Lstm {
  using View = onnx::nodes::LSTM;
  template <class A>
  using Cell = LstmCell<A>;
  static std::vector<std::string> activations() { return {"Sigmoid", "Tanh", "Tanh"}; }
  static void set(const View& view, CellRules& rules) { rules.couples = view.input_forget() != 0; }
  /// Four sums, five activations, f c + i g and the product with o; with P, three more products and
  /// sums.
  static double flop(const InferContext& context) {
    return 4 + 5 + 4 + (context.has_input(View::In::P) ? 6 : 0);
  }
};

/// Its kernel is RecurrentKernel, its shapes are RecurrentLayout's.
///
/// `Kind` has the typed view, the cell, its default activations, its rules, and the operations per
/// element of the state.
template <class Kind>
class Recurrent final : public Operator {
  using In = onnx::nodes::LSTM::In;  // RNN and GRU have those before initial_c
  using Names = std::vector<std::string>;

 public:
  explicit Recurrent(const typename Kind::View& view) : attributes_(view) {
    const std::string who = onnx::describe(view.node());
    rules_.clip = view.clip();
    if (rules_.clip && !(*rules_.clip > 0)) {
      throw ValueError(fmt::format("{}: clip is {}, expected more than 0", who, *rules_.clip));
    }
    Kind::set(view, rules_);
    const Names defaults = Kind::activations();
    // RNN's schema has two defaults, one per possible direction.
    const auto* names = view.node().template attribute<Names>("activations");
    rules_.activations = RecurrentActivation::parse(
        names ? *names : Names(), view.activation_alpha().value_or(std::vector<float>{}),
        view.activation_beta().value_or(std::vector<float>{}), defaults,
        defaults.size() * std::size_t(attributes_.directions()), who);
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const RecurrentLayout s = layout(context);
    const TensorDesc state{context.dtype(In::X), s.state_shape()};
    std::vector<ValueDesc> outputs{TensorDesc{context.dtype(In::X), s.output_shape()}, state};
    if (kRemembers) outputs.push_back(state);
    return outputs;
  }

  Places gradients() const override {
    Places result{In::X, In::W, In::R, In::B, In::initial_h};
    if (kRemembers) result.add(In::initial_c), result.add(In::P);
    return result;
  }

  /// The products with W and R, and the cell's operations per element of the state; with B, two
  /// more sums per gate.
  Cost cost(const InferContext& context) const override {
    const RecurrentLayout s = layout(context);
    const double products = 2.0 * double(kGates) * double(s.inputs + s.hidden);
    const double biases = context.has_input(In::B) ? 2.0 * double(kGates) : 0;
    return with_flop(context, double(s.directions) * double(s.steps) * double(s.batch) *
                                  double(s.hidden) * (products + Kind::flop(context) + biases));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(In::X), context, [&]<class T>() {
      return std::make_unique<RecurrentKernel<Kind::template Cell, Arithmetic<T>>>(layout(context),
                                                                                   rules_, context);
    });
  }

 private:
  static constexpr std::int64_t kGates = Kind::template Cell<float>::kGates;
  static constexpr bool kRemembers = Kind::template Cell<float>::kRemembers;

  RecurrentLayout layout(const InferContext& context) const {
    return attributes_.resolve(context, kGates);
  }

  RecurrentAttributes attributes_;
  CellRules rules_;
};

}  // namespace d5::detail
