// SPDX-License-Identifier: Apache-2.0
// Normalization after a residual sum, as written by ONNX Runtime's optimizers: com.microsoft's
// SkipLayerNormalization and SkipSimplifiedLayerNormalization; and SimplifiedLayerNormalization,
// the older name of RMSNormalization.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using LayerView = onnx::nodes::microsoft::SkipLayerNormalization;
using RmsView = onnx::nodes::microsoft::SkipSimplifiedLayerNormalization;
using SimplifiedView = onnx::nodes::SimplifiedLayerNormalization;
using Out = LayerView::Out;
using detail::Composition;
using detail::Term;

/// Refuses output `k`, statistics that RMSNormalization does not compute. Throws: Unsupported.
void refuse_statistics(const InferContext& context, std::size_t k) {
  if (!context.wants_output(k)) return;
  throw Unsupported(
      fmt::format("{}: its statistics are not supported; omit output {}", context.who(), k));
}

/// input + skip + bias. Shapes: skip may lack the batch, or have batch 1; bias has the last
/// dimension.
Term residual_sum(Composition& c, std::size_t skip, std::size_t bias) {
  const Shape x = c.context().shape(LayerView::In::input);
  Term sum = c.add("Add", {c.input(LayerView::In::input), c.input(skip)});
  if (const Term b = c.input(bias)) sum = c.add("Add", {sum, b});
  if (c.shape(sum) != x) {
    throw ShapeError(fmt::format(
        "{}: input is {}, and with skip and bias {}; expected those to be broadcast to the input",
        c.context().who(), to_string(x), to_string(c.shape(sum))));
  }
  return sum;
}

class SkipLayerNormalization final : public detail::ComposedOperator {
  using In = LayerView::In;

 public:
  explicit SkipLayerNormalization(const LayerView& view) : epsilon_(view.epsilon()) {}
  Places gradients() const override { return {In::input, In::skip, In::gamma, In::beta, In::bias}; }

 protected:
  void compose(Composition& c) const override {
    const Term sum = residual_sum(c, In::skip, In::bias);
    const auto y = c.add(3, "LayerNormalization", {sum, c.input(In::gamma), c.input(In::beta)},
                         {{"epsilon", epsilon_}});
    c.output(Out::output, y[0]);
    c.output(Out::mean, y[1]);
    c.output(Out::inv_std_var, y[2]);
    c.output(Out::input_skip_bias_sum, sum);
  }

 private:
  float epsilon_;
};

class SkipRmsNormalization final : public detail::ComposedOperator {
  using In = RmsView::In;

 public:
  explicit SkipRmsNormalization(const RmsView& view) : epsilon_(view.epsilon()) {}
  Places gradients() const override { return {In::input, In::skip, In::gamma, In::bias}; }

 protected:
  void compose(Composition& c) const override {
    refuse_statistics(c.context(), Out::mean);
    refuse_statistics(c.context(), Out::inv_std_var);
    const Term sum = residual_sum(c, In::skip, In::bias);
    c.output(Out::output,
             c.add("RMSNormalization", {sum, c.input(In::gamma)}, {{"epsilon", epsilon_}}));
    c.output(Out::input_skip_bias_sum, sum);
  }

 private:
  float epsilon_;
};

class SimplifiedLayerNormalization final : public detail::ComposedOperator {
 public:
  explicit SimplifiedLayerNormalization(const SimplifiedView& view)
      : axis_(view.axis()), epsilon_(view.epsilon()) {}
  Places gradients() const override { return {0, 1}; }

 protected:
  void compose(Composition& c) const override {
    refuse_statistics(c.context(), SimplifiedView::Out::inv_std_var);
    c.output(0, c.add("RMSNormalization", {c.input(0), c.input(1)},
                      {{"axis", axis_}, {"epsilon", epsilon_}}));
  }

 private:
  std::int64_t axis_;
  float epsilon_;
};

}  // namespace

void register_skip_normalization(OperatorRegistry& registry) {
  registry.add<SkipLayerNormalization, LayerView>();
  registry.add<SkipRmsNormalization, RmsView>();
  registry.add<SimplifiedLayerNormalization, SimplifiedView>();
}

}  // namespace d5::ops
