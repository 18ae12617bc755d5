// SPDX-License-Identifier: Apache-2.0
// FlexAttention: scaled dot product attention with graphs that modify scores and probabilities.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/attention/attention_kernel.hpp"
#include "level0_ops/kernels/attention/attention_products.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using FlexAttentionView = onnx::nodes::preview::FlexAttention;
using In = FlexAttentionView::In;
using detail::AttentionSizes;

/// The node's graphs.
struct Modifiers {
  bool score, probability;
};

/// Kernel for nodes with graphs, which take all scores, or all probabilities, at once.
template <class A>
class ModifiedAttentionKernel final : public Kernel {
 public:
  ModifiedAttentionKernel(const AttentionSizes& sizes, const detail::AttentionRules& rules,
                          Modifiers modifiers, PlanContext& context, std::int64_t scratch = 0)
      : s_(sizes),
        scale_(A(rules.scale)),
        scores_{rules.softmax, s_.scores_shape()},
        modifiers_(modifiers),
        q_(context, In::Q, scratch),
        k_(context, In::K, scratch),
        v_(context, In::V, scratch),
        y_(context, FlexAttentionView::Out::Y, scratch),
        head_(scratch),
        to_scores_(dtype_of<A>, scores_.dtype),
        from_scores_(scores_.dtype, dtype_of<A>) {
    dispatch(FloatTypes{}, rules.softmax, context.who(),
             [&]<class P>() { softmax_ = detail::softmax_row<P, A>; });
    const Shape head{s_.queries, s_.total()};
    context.request_scratch(std::size_t(head_ + head.elements()) * sizeof(A));
  }

  void forward(OpContext& context) override {
    A* scratch = context.scratch_as<A>();
    A* head = scratch + head_;
    const std::int64_t size = s_.queries * s_.total();
    const detail::AttentionMatrices<A> matrices{
        s_, q_.read(context, scratch),
        detail::key_ranges<const A>(s_, nullptr, nullptr, k_.read(context, scratch),
                                    v_.read(context, scratch))};
    A* y = y_.memory(context, scratch);

    Value scores = context.services().allocate(scores_);
    for_each_head([&](const detail::QueryTile& t, std::int64_t first) {
      matrices.score(t, scale_, head);
      to_scores_.run(detail::element(scores.tensor(), first), head, size);
    });
    if (modifiers_.score) scores = modify(context, "score_mod", scores);
    for_each_head([&](const detail::QueryTile& t, std::int64_t first) {
      from_scores_.run(head, detail::element(scores.tensor(), first), size);
      for (std::int64_t i = 0; i < t.count; ++i) softmax_(head + i * s_.total(), s_.total());
      to_scores_.run(detail::element(scores.tensor(), first), head, size);
    });
    if (modifiers_.probability) scores = modify(context, "prob_mod", scores);
    for_each_head([&](const detail::QueryTile& t, std::int64_t first) {
      from_scores_.run(head, detail::element(scores.tensor(), first), size);
      matrices.weigh(t, head, y);
    });
    y_.finish(context, scratch);
  }

 private:
  /// Calls `f(t, first)` with all queries of a head, and the index of their first score.
  template <class F>
  void for_each_head(F&& f) const {
    for (std::int64_t i = 0; i < s_.batch * s_.q_heads; ++i) {
      f(detail::QueryTile{i / s_.q_heads, i % s_.q_heads, 0, s_.queries},
        i * s_.queries * s_.total());
    }
  }

  [[nodiscard]] Value modify(OpContext& context, std::string_view attribute,
                             const Value& scores) const {
    SubgraphRunner& graph = context.services().subgraph(attribute);
    if (graph.input_count() != 1 || graph.output_count() != 1) {
      throw ShapeError(fmt::format("{}: {} has {} inputs and {} outputs, expected one each",
                                   context.who(), attribute, graph.input_count(),
                                   graph.output_count()));
    }
    Value result = std::move(graph.run({&scores, 1}).front());
    if (!result.is_tensor() || result.tensor().desc() != scores_) {
      throw ShapeError(fmt::format("{}: {} gives {}, expected {}", context.who(), attribute,
                                   to_string(result.desc()), to_string(scores_)));
    }
    return result;
  }

  AttentionSizes s_;
  A scale_;
  TensorDesc scores_;
  Modifiers modifiers_;
  detail::InputAs<A> q_, k_, v_;
  detail::OutputAs<A> y_;
  std::int64_t head_;  // size of a head's scores in scratch
  detail::Conversion to_scores_, from_scores_;
  detail::SoftmaxRow<A> softmax_ = nullptr;
};

/// Without graphs it equals Attention without mask. Shapes: AttentionSizes, with four dimensions.
class FlexAttention final : public Operator {
 public:
  explicit FlexAttention(const FlexAttentionView& view)
      : scale_(view.scale()),
        modifiers_{view.score_mod().has_value(), view.prob_mod().has_value()} {
    if (const auto precision = view.softmax_precision()) {
      softmax_ = detail::softmax_type(*precision, onnx::describe(view.node()));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(In::Q), sizes(context).output_shape()}};
  }

  Places gradients() const override { return {In::Q, In::K, In::V}; }

  /// The two products, and per score its scaling and the softmax's five operations; without the
  /// graphs.
  Cost cost(const InferContext& context) const override {
    const AttentionSizes s = sizes(context);
    return with_flop(
        context, double(s.scores_shape().elements()) * (2.0 * double(s.size + s.value_size) + 6));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const AttentionSizes s = sizes(context);
    const DType type = context.dtype(In::Q);
    const detail::AttentionRules rules{
        .scale = scale_ ? double(*scale_) : 1 / std::sqrt(double(s.size)),
        .softmax = softmax_.value_or(type == DType::float64 ? DType::float64 : DType::float32)};
    const bool wide = type == DType::float64 || rules.softmax == DType::float64;
    const DType arithmetic = wide ? DType::float64 : DType::float32;
    const bool modified = modifiers_.score || modifiers_.probability;
    if (context.wants_backward() && (modified || type != arithmetic)) {
      throw Unsupported(fmt::format(
          "{} has a gradient only without graphs, and in the element type of its arithmetic, {}",
          context.who(), name_of(arithmetic)));
    }
    if (!modified) return detail::attention_kernel(s, rules, arithmetic, context);
    return kernel_for(RealTypes{}, arithmetic, context, [&]<class A>() {
      return std::make_unique<ModifiedAttentionKernel<A>>(s, rules, modifiers_, context);
    });
  }

 private:
  static AttentionSizes sizes(const InferContext& context) {
    if (context.shape(In::Q).rank() != 4) {
      throw ShapeError(fmt::format("{}: Q is {}, expected four dimensions", context.who(),
                                   to_string(context.shape(In::Q))));
    }
    const AttentionSizes s = detail::attention_sizes(context, {});
    (void)s.scores_shape().elements();  // throws if the number of elements overflows
    return s;
  }

  std::optional<float> scale_;
  std::optional<DType> softmax_;
  Modifiers modifiers_;
};

}  // namespace

void register_flex_attention(OperatorRegistry& registry) {
  registry.add<FlexAttention, FlexAttentionView>();
}

}  // namespace d5::ops
