// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/recurrent/lstm_cell.hpp"
#include "level0_ops/kernels/recurrent/recurrent_kernel.hpp"

namespace d5::detail {

/// Source: Hochreiter and Schmidhuber, "Long Short-Term Memory" (1997).
struct Lstm {
  using View = onnx::nodes::LSTM;
  template <class A>
  using Cell = LstmCell<A>;
  static std::vector<std::string> activations() { return {"Sigmoid", "Tanh", "Tanh"}; }
  static void set(const View& view, CellRules& rules) { rules.couples = view.input_forget() != 0; }
  /// Four sums, five activations, f c + i g and the product with o; with P three products and sums.
  static double flop(const InferContext& context) {
    return 4 + 5 + 4 + (context.has_input(View::In::P) ? 6 : 0);
  }
};

/// Its kernel is RecurrentKernel, its shapes are RecurrentLayout's.
///
/// `Kind` has the typed view, the cell, its activations by default, what it sets among the rules,
/// and the operations for one element of the state.
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
    // RNN's schema has two by default, one for each direction that there might be.
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

  /// The products with W and R, and for each element of the state what the cell does; with B two
  /// sums more a gate.
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
