// SPDX-License-Identifier: Apache-2.0
// com.microsoft's variants of Gelu, as written by ONNX Runtime's optimizers: BiasGelu, FastGelu and
// QuickGelu.
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes::microsoft;
using detail::Composition;
using detail::Term;

/// y = Gelu(x + bias), with erf or tanh. Shapes: bias is broadcast.
class BiasedGelu final : public detail::ComposedOperator {
 public:
  explicit BiasedGelu(std::string approximate) : approximate_(std::move(approximate)) {}
  Places gradients() const override { return {0, 1}; }

 protected:
  void compose(Composition& c) const override {
    Term x = c.input(0);
    if (const Term bias = c.input(1)) x = c.add("Add", {x, bias});
    c.output(0, c.add("Gelu", {x}, {{"approximate", approximate_}}));
  }

 private:
  std::string approximate_;
};

/// y = x sigmoid(alpha x)
class QuickGelu final : public detail::ComposedOperator {
 public:
  explicit QuickGelu(const nodes::QuickGelu& view) : alpha_(view.alpha()) {}
  Places gradients() const override { return {0}; }

 protected:
  void compose(Composition& c) const override {
    c.output(0, c.add("Swish", {c.input(0)}, {{"alpha", alpha_}}));
  }

 private:
  float alpha_;
};

}  // namespace

void register_biased_gelu(OperatorRegistry& registry) {
  registry.add<BiasedGelu, nodes::Gelu>("none");
  registry.add<BiasedGelu, nodes::BiasGelu>("none");
  registry.add<BiasedGelu, nodes::FastGelu>("tanh");
  registry.add<QuickGelu, nodes::QuickGelu>();
}

}  // namespace d5::ops
