// SPDX-License-Identifier: Apache-2.0
// Linear attention, with a state instead of a softmax: plain, gated, and with the delta rule.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/attention/linear_attention_kernel.hpp"

namespace d5::ops {
namespace {

using LinearAttentionView = onnx::nodes::LinearAttention;
using In = LinearAttentionView::In;
using detail::LinearAttentionSizes;

struct Rule {
  std::string_view name;
  bool gated, delta;
};
constexpr std::array<Rule, 4> kRules{{{"linear", false, false},
                                      {"gated", true, false},
                                      {"delta", false, true},
                                      {"gated_delta", true, true}}};

/// Kernel: LinearAttentionKernel. Shapes: LinearAttentionSizes.
class LinearAttention final : public Operator {
 public:
  explicit LinearAttention(const LinearAttentionView& view)
      : q_heads_(view.q_num_heads()), kv_heads_(view.kv_num_heads()), scale_(view.scale()) {
    const std::string who = onnx::describe(view.node()), name = view.update_rule();
    const auto rule = std::ranges::find(kRules, name, &Rule::name);
    if (rule == kRules.end()) {
      throw ValueError(
          fmt::format("{}: update_rule is '{}', expected linear, gated, delta or gated_delta", who,
                      printable(name)));
    }
    rule_ = *rule;
    if (kv_heads_ < 1 || q_heads_ < 1 || q_heads_ % kv_heads_ != 0) {
      throw ValueError(fmt::format(
          "{}: q_num_heads is {} and kv_num_heads is {}, expected a multiple of a positive number",
          who, q_heads_, kv_heads_));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const LinearAttentionSizes s = sizes(context);
    const DType state =
        context.dtype(context.has_input(In::past_state) ? In::past_state : In::query);
    return {TensorDesc{context.dtype(In::query), {s.batch, s.tokens, s.q_heads * s.value_size}},
            TensorDesc{state, s.state_shape()}};
  }

  Places gradients() const override {
    return {In::query, In::key, In::value, In::past_state, In::decay, In::beta};
  }

  /// Per element of the state and token: the outer product and its sum, a product and a sum per
  /// head of queries; the decay's product; the delta rule's product and sum.
  Cost cost(const InferContext& context) const override {
    const LinearAttentionSizes s = sizes(context);
    const double each = 2 + 2 * double(s.group()) + (rule_.gated ? 1 : 0) + (rule_.delta ? 2 : 0);
    return with_flop(context, double(s.tokens) * double(s.state_shape().elements()) * each);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (context.wants_backward() && context.has_input(In::past_state) &&
        context.dtype(In::past_state) != context.dtype(In::query)) {
      throw Unsupported(
          fmt::format("{} has a gradient only if its state has the query's type", context.who()));
    }
    const LinearAttentionSizes s = sizes(context);
    const double scale = scale_ != 0 ? double(scale_) : 1 / std::sqrt(double(s.size));
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(In::query), context, [&]<class T>() {
      return std::make_unique<detail::LinearAttentionKernel<Arithmetic<T>>>(s, Arithmetic<T>(scale),
                                                                            context);
    });
  }

 private:
  LinearAttentionSizes sizes(const InferContext& context) const {
    const Shape &q = context.shape(In::query), &k = context.shape(In::key),
                &v = context.shape(In::value);
    if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3 || q[2] % q_heads_ != 0 ||
        v[2] % kv_heads_ != 0) {
      throw ShapeError(fmt::format(
          "{}: query is {}, key is {}, value is {}; expected three dimensions each, the last a "
          "multiple of {} heads of queries and {} of keys",
          context.who(), to_string(q), to_string(k), to_string(v), q_heads_, kv_heads_));
    }
    LinearAttentionSizes s{.batch = q[0],
                           .tokens = q[1],
                           .q_heads = q_heads_,
                           .kv_heads = kv_heads_,
                           .size = q[2] / q_heads_,
                           .value_size = v[2] / kv_heads_};
    detail::expect_shape(context, In::key, "key", {s.batch, s.tokens, kv_heads_ * s.size});
    detail::expect_shape(context, In::value, "value", {s.batch, s.tokens, v[2]});
    detail::expect_shape(context, In::past_state, "past_state", s.state_shape());
    s.decays = width(context, In::decay, "decay", rule_.gated, s, {kv_heads_, kv_heads_ * s.size});
    s.betas = width(context, In::beta, "beta", rule_.delta, s, {kv_heads_, 1});
    return s;
  }

  /// The last dimension of decay or beta, one of two sizes; 0 if the rule has none.
  std::int64_t width(const InferContext& context, std::size_t i, std::string_view name,
                     bool expected, const LinearAttentionSizes& s,
                     std::array<std::int64_t, 2> widths) const {
    if (context.has_input(i) != expected) {
      throw ShapeError(fmt::format("{}: {} is {}, but update_rule {} {}", context.who(), name,
                                   expected ? "missing" : "given", rule_.name,
                                   expected ? "needs it" : "has none"));
    }
    if (!expected) return 0;
    const Shape& shape = context.shape(i);
    for (const std::int64_t last : widths) {
      if (shape == Shape{s.batch, s.tokens, last}) return last;
    }
    throw ShapeError(fmt::format("{}: {} is {}, expected {} x {} x {} or {}", context.who(), name,
                                 to_string(shape), s.batch, s.tokens, widths[0], widths[1]));
  }

  std::int64_t q_heads_, kv_heads_;
  float scale_;
  Rule rule_{};
};

}  // namespace

void register_linear_attention(OperatorRegistry& registry) {
  registry.add<LinearAttention, LinearAttentionView>();
}

}  // namespace d5::ops
