// SPDX-License-Identifier: Apache-2.0
// com.microsoft's MoE: a mixture of experts, of which each token passes through some.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::microsoft::MoE;
using In = View::In;
using detail::Composition;
using detail::Term;

/// A constant of the type of `like`.
Term number(Composition& c, float value, Term like) {
  return c.add("CastLike", {c.constant(Tensor::scalar(value)), like});
}

/// x W^T + b for each expert. Shapes: x is T x H or E x T x H, W E x I x H, b E x I, y E x T x I.
Term layer(Composition& c, Term x, std::size_t weights, std::size_t bias) {
  const Term w = c.input(weights);
  if (!w) {
    throw ShapeError(fmt::format("{}: {} is missing, expected the weights of each expert",
                                 c.context().who(),
                                 onnx::describe_input(c.context().node(), weights)));
  }
  Term y =
      c.add("MatMul", {x, c.add("Transpose", {w}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}})});
  if (const Term b = c.input(bias)) {
    y = c.add("Add", {y, c.add("Unsqueeze", {b, c.integers({1})})});
  }
  return y;
}

/// The activation between an expert's layers.
class ExpertActivation {
 public:
  explicit ExpertActivation(const View& view)
      : name_(view.activation_type()),
        fusion_(view.swiglu_fusion()),
        alpha_(view.activation_alpha()),
        beta_(view.activation_beta()),
        limit_(view.swiglu_limit()) {
    const std::string who = onnx::describe(view.node());
    if (name_ != "relu" && name_ != "gelu" && name_ != "silu" && name_ != "identity" &&
        name_ != "swiglu") {
      throw ValueError(
          fmt::format("{}: activation_type is '{}', expected relu, gelu, silu, swiglu or identity",
                      who, printable(name_)));
    }
    if (fusion_ < 0 || fusion_ > 2) {
      throw ValueError(fmt::format("{}: swiglu_fusion is {}, expected 0 to 2", who, fusion_));
    }
  }

  [[nodiscard]] Term apply(Composition& c, Term x) const {
    const Term h = layer(c, x, In::fc1_experts_weights, In::fc1_experts_bias);
    if (name_ == "swiglu") {
      const auto [gate, linear] = gated(c, x, h);
      return swiglu(c, gate, linear);
    }
    const Term y = of_one(c, h);
    if (!c.input(In::fc3_experts_weights)) return y;
    return c.add("Mul", {y, layer(c, x, In::fc3_experts_weights, In::fc3_experts_bias)});
  }

 private:
  [[nodiscard]] Term of_one(Composition& c, Term h) const {
    if (name_ == "relu") return c.add("Relu", {h});
    if (name_ == "gelu") return c.add("Gelu", {h}, {{"approximate", std::string("tanh")}});
    if (name_ == "silu") return c.add("Swish", {h});
    return h;
  }

  /// Gate and linear part: halves of one layer, interleaved or concatenated, or two layers.
  [[nodiscard]] std::pair<Term, Term> gated(Composition& c, Term x, Term h) const {
    if (fusion_ == 0) return {h, layer(c, x, In::fc3_experts_weights, In::fc3_experts_bias)};
    const Shape shape = c.shape(h);
    const std::int64_t size = shape[2];
    if (size % 2 != 0) {
      throw ShapeError(
          fmt::format("{}: fc1_experts_weights give {} numbers per token, expected two halves",
                      c.context().who(), size));
    }
    const auto halves = [&](Term of) {
      return c.add(2, "Split", {of},
                   {{"axis", std::int64_t(-1)}, {"num_outputs", std::int64_t(2)}});
    };
    if (fusion_ == 2) {
      const auto two = halves(h);
      return {two[0], two[1]};
    }
    const auto two = halves(c.add("Reshape", {h, c.integers({shape[0], shape[1], size / 2, 2})},
                                  {{"allowzero", std::int64_t(1)}}));
    const Term last = c.integers({-1});
    return {c.add("Squeeze", {two[0], last}), c.add("Squeeze", {two[1], last})};
  }

  /// g sigmoid(alpha g) (l + beta), with g and l clipped to the limit.
  [[nodiscard]] Term swiglu(Composition& c, Term gate, Term linear) const {
    if (limit_) {
      gate = c.add("Clip", {gate, {}, number(c, *limit_, gate)});
      linear = c.add("Clip", {linear, number(c, -*limit_, linear), number(c, *limit_, linear)});
    }
    if (beta_ != 0) linear = c.add("Add", {linear, number(c, beta_, linear)});
    return c.add("Mul", {c.add("Swish", {gate}, {{"alpha", alpha_}}), linear});
  }

  std::string name_;
  std::int64_t fusion_;
  float alpha_, beta_;
  std::optional<float> limit_;
};

/// y = sum of p_e expert_e(x) over the k experts to which the router gives the largest p; expert(x)
/// = W2 act(W1 x + b1) + b2, with act(W1 x + b1) times W3 x + b3 if W3 is given.
///
/// The reference computes all experts of all tokens.
/// Shapes: input and output are T x H or B x S x H, router_probs T x E before the softmax.
/// Source: Shazeer et al., "Outrageously Large Neural Networks" (2017); Fedus et al., "Switch
/// Transformers" (2021).
class MixtureOfExperts final : public detail::ComposedOperator {
 public:
  explicit MixtureOfExperts(const View& view)
      : activation_(view), k_(view.k()), normalizes_(view.normalize_routing_weights() != 0) {
    if (view.use_sparse_mixer() == 0) return;
    throw Unsupported(fmt::format("{}: use_sparse_mixer is {}, expected 0",
                                  onnx::describe(view.node()), view.use_sparse_mixer()));
  }

  [[nodiscard]] Places gradients() const override { return {0, 1, 2, 3, 4, 5, 6, 7}; }

 protected:
  void compose(Composition& c) const override {
    const Shape input = c.context().shape(In::input);
    if (input.rank() != 2 && input.rank() != 3) {
      throw ShapeError(
          fmt::format("{}: input is {}, expected tokens x size, or batch x length x "
                      "size",
                      c.context().who(), to_string(input)));
    }
    const std::int64_t tokens = input.elements(0, input.rank() - 1);
    const Shape& router = c.context().shape(In::router_probs);
    const Shape& weights = c.context().shape(In::fc1_experts_weights);
    if (weights.rank() != 3) {
      throw ShapeError(
          fmt::format("{}: fc1_experts_weights is {}, expected experts x outputs x "
                      "inputs",
                      c.context().who(), to_string(weights)));
    }
    const std::int64_t experts = weights[0];
    detail::expect_shape(c.context(), In::router_probs, "router_probs", {tokens, experts});
    if (k_ < 1 || k_ > router[1]) {
      throw ValueError(fmt::format("{}: k is {}, expected 1 to {}, the number of experts",
                                   c.context().who(), k_, experts));
    }
    const Shape& last = c.context().shape(In::fc2_experts_weights);
    if (last.rank() != 3 || last[0] != experts || last[1] != input[input.rank() - 1]) {
      throw ShapeError(
          fmt::format("{}: fc2_experts_weights is {}, expected {} experts x {} outputs, "
                      "as many as input has, x inputs",
                      c.context().who(), to_string(last), experts, input[input.rank() - 1]));
    }
    Term x = c.input(In::input);
    x = c.add("Reshape", {x, c.integers({tokens, input[input.rank() - 1]})},
              {{"allowzero", std::int64_t(1)}});
    const Term each =
        layer(c, activation_.apply(c, x), In::fc2_experts_weights, In::fc2_experts_bias);
    const Term shares = routed(c, tokens, experts);
    // Masks the results of experts that are not chosen, because they may be infinite.
    const Term zero = number(c, 0, each);
    const Term chosen =
        c.add("Where", {c.add("Greater", {shares, zero}), c.add("Mul", {each, shares}), zero});
    const Term sum = c.add("ReduceSum", {chosen, c.integers({0})}, {{"keepdims", std::int64_t(0)}});
    c.output(0, c.add("Reshape", {sum, c.integers({input.begin(), input.end()})},
                      {{"allowzero", std::int64_t(1)}}));
  }

 private:
  /// The weight of each expert, 0 if not chosen. Shapes: E x T x 1.
  [[nodiscard]] Term routed(Composition& c, std::int64_t tokens, std::int64_t experts) const {
    const Term all = c.add("Softmax", {c.input(In::router_probs)});
    const auto top = c.add(2, "TopK", {all, c.integers({k_})});
    Term shares = top[0];
    if (normalizes_) {
      shares = c.add("Div", {shares, c.add("ReduceSum", {shares, c.integers({-1})})});
    }
    const Term none =
        c.add("CastLike", {c.constant(Tensor::zeros(DType::float32, {tokens, experts})), all});
    shares = c.add("ScatterElements", {none, top[1], shares}, {{"axis", std::int64_t(1)}});
    shares = c.add("Transpose", {shares}, {{"perm", std::vector<std::int64_t>{1, 0}}});
    return c.add("Unsqueeze", {shares, c.integers({-1})});
  }

  ExpertActivation activation_;
  std::int64_t k_;
  bool normalizes_;
};

}  // namespace

void register_mixture_of_experts(OperatorRegistry& registry) {
  registry.add<MixtureOfExperts, View>();
}

}  // namespace d5::ops
