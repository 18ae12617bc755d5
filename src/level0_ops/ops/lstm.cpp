// SPDX-License-Identifier: Apache-2.0
// Long short-term memory over sequences, forward and backward in time.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/lstm_kernel.hpp"
#include "level0_ops/kernels/wide_kernel.hpp"

namespace d5::ops {
namespace {

using detail::RecurrentActivation;
using In = onnx::nodes::LSTM::In;

/// Its kernel is LstmKernel, its shapes are LstmLayout's.
/// Source: Hochreiter and Schmidhuber, "Long Short-Term Memory" (1997).
class Lstm final : public Operator {
 public:
  explicit Lstm(const onnx::nodes::LSTM& view) : attributes_(view) {
    const std::string who = onnx::describe(view.node());
    functions_.clip = view.clip();
    if (functions_.clip && !(*functions_.clip > 0)) {
      throw ValueError(fmt::format("{}: clip is {}, expected more than 0", who, *functions_.clip));
    }
    functions_.couples = view.input_forget() != 0;
    functions_.activations = RecurrentActivation::parse(
        view.activations().value_or(std::vector<std::string>{}),
        view.activation_alpha().value_or(std::vector<float>{}),
        view.activation_beta().value_or(std::vector<float>{}), {"Sigmoid", "Tanh", "Tanh"},
        std::size_t(3 * attributes_.directions()), who);
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const detail::LstmLayout layout = attributes_.resolve(context);
    const DType dtype = context.dtype(In::X);
    return {TensorDesc{dtype, layout.output_shape()}, TensorDesc{dtype, layout.state_shape()},
            TensorDesc{dtype, layout.state_shape()}};
  }

  Places gradients() const override {
    return {In::X, In::W, In::R, In::B, In::initial_h, In::initial_c, In::P};
  }

  /// The products with W and R. For each element of the state: their four sums, five activations,
  /// f c + i g and the product with o; with B eight sums more, with P three products and sums.
  Cost cost(const InferContext& context) const override {
    const detail::LstmLayout s = attributes_.resolve(context);
    const double elementwise =
        4 + 5 + 4 + (context.has_input(In::B) ? 8 : 0) + (context.has_input(In::P) ? 6 : 0);
    return with_flop(context, double(s.directions) * double(s.steps) * double(s.batch) *
                                  double(s.hidden) *
                                  (8.0 * double(s.inputs + s.hidden) + elementwise));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (context.wants_backward()) expect_gradient(context);
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<detail::LstmKernel<T>>(attributes_.resolve(wide), functions_, wide);
    });
  }

 private:
  void expect_gradient(const PlanContext& context) const {
    using Kind = RecurrentActivation::Kind;
    constexpr std::array<Kind, 3> kStandard{Kind::sigmoid, Kind::tanh, Kind::tanh};
    bool standard = !functions_.clip && !functions_.couples;
    for (std::size_t i = 0; i < functions_.activations.size(); ++i) {
      standard = standard && functions_.activations[i].kind() == kStandard[i % 3];
    }
    if (standard) return;
    throw Unsupported(fmt::format(
        "{} has a gradient only with activations Sigmoid, Tanh, Tanh and without clip and "
        "input_forget",
        context.who()));
  }

  detail::LstmAttributes attributes_;
  detail::LstmFunctions functions_;
};

}  // namespace

void register_lstm(OperatorRegistry& registry) { registry.add<Lstm, onnx::nodes::LSTM>(); }

}  // namespace d5::ops
