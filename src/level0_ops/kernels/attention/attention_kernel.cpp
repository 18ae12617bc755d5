// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/attention/attention_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/attention/attention_products.hpp"
#include "level0_ops/kernels/chunks.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::detail {
namespace {

using In = onnx::nodes::Attention::In;
using Out = onnx::nodes::Attention::Out;

/// Copies keys or values to the present outputs: the past ones followed by the new ones.
struct CacheCopy {
  std::size_t input, output;
  std::int64_t first;  ///< the copy's first element in the output
  StridedCopy copy;
};

/// Runs by tiles of queries. Backward recomputes the scores: storing them would take memory
/// quadratic in the sequence length.
template <class A>
class AttentionKernel final : public Kernel {
 public:
  AttentionKernel(const AttentionSizes& sizes, const AttentionRules& rules, PlanContext& context,
                  std::int64_t scratch = 0)
      : s_(sizes),
        rules_(rules),
        scale_(A(rules.scale)),
        softcap_(A(rules.softcap)),
        q_(context, In::Q, scratch),
        k_(context, In::K, scratch),
        v_(context, In::V, scratch),
        past_k_(context, In::past_key, scratch),
        past_v_(context, In::past_value, scratch),
        mask_(context, s_, rules.window, {In::attn_mask, In::nonpad_kv_seqlen}, scratch),
        y_(context, Out::Y, scratch),
        shown_(context, Out::qk_matmul_output, scratch),
        tiles_((s_.queries + kTile - 1) / kTile),
        at_(scratch),
        tile_size_(Shape{std::min(kTile, s_.queries), s_.total()}.elements()) {
    dispatch(FloatTypes{}, rules.softmax, context.who(),
             [&]<class P>() { softmax_ = softmax_row<P, A>; });
    plan_cache(context, Out::present_key, In::past_key, In::K, s_.size);
    plan_cache(context, Out::present_value, In::past_value, In::V, s_.value_size);
    const double products =
        2.0 * double(s_.scores_shape().elements()) * double(s_.size + s_.value_size);
    chunks_ = Chunks(s_.batch * s_.q_heads * tiles_, products);
    // Backward sums over the queries that share a head of keys; the mask's gradient sums over all.
    back_chunks_ = Chunks(context.wants_grad(In::attn_mask) ? 1 : s_.batch * s_.kv_heads, products);
    const Chunks& most =
        context.wants_backward() && back_chunks_.count() > chunks_.count() ? back_chunks_ : chunks_;
    const Shape per_chunk{most.count(), context.wants_backward() ? 3 : 1, tile_size_};
    context.request_scratch(std::size_t(at_ + per_chunk.elements()) * sizeof(A));
  }

  void forward(OpContext& context) override {
    A* scratch = context.scratch_as<A>();
    const auto given = mask_.read(context, scratch);
    const AttentionMatrices<A> matrices = read(context, scratch);
    A* y = y_.memory(context, scratch);
    A* shown = shown_.memory(context, scratch);
    chunks_.for_each(s_.batch * s_.q_heads * tiles_, [&](std::int64_t chunk, std::int64_t task) {
      const QueryTile t =
          tile(task / tiles_ / s_.q_heads, task / tiles_ % s_.q_heads, task % tiles_);
      A* scores = scratch + at_ + chunk * tile_size_;
      probabilities(matrices, given, t, scores, nullptr, shown ? shown + row_of(t) : nullptr);
      matrices.weigh(t, scores, y);
    });
    for (const CacheCopy& c : cache_copies_) {
      c.copy.run(element(context.output(c.output), c.first), context.input(c.input).raw());
    }
    y_.finish(context, scratch);
    shown_.finish(context, scratch);
  }

  void backward(GradContext& context) override {
    A* scratch = context.scratch_as<A>();
    const auto given = mask_.read(context, scratch);
    const AttentionMatrices<A> matrices = read(context, scratch);
    const Gradients gradients = begin(context);
    back_chunks_.for_each(s_.batch * s_.kv_heads, [&](std::int64_t chunk, std::int64_t task) {
      A* memory = scratch + at_ + 3 * chunk * tile_size_;
      for (std::int64_t g = 0; g < s_.group() * tiles_; ++g) {
        const QueryTile t =
            tile(task / s_.kv_heads, task % s_.kv_heads * s_.group() + g / tiles_, g % tiles_);
        run_back(matrices, given, gradients, t, memory);
      }
    });
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {In::Q, In::K, In::V, In::attn_mask, In::past_key,
                                      In::past_value, In::nonpad_kv_seqlen},
            .backward_reads_outputs = {}};
  }

 private:
  void plan_cache(const PlanContext& context, std::size_t output, std::size_t past,
                  std::size_t input, std::int64_t size) {
    if (!context.wants_output(output)) return;
    const HeadLayout to = s_.cache_layout(s_.kv_heads, s_.total(), size);
    const auto add = [&](std::size_t i, std::int64_t first, std::int64_t rows,
                         const HeadLayout& from) {
      StridedLoop loop(2);
      loop.add(s_.batch, {to.sample, from.sample});
      loop.add(s_.kv_heads, {to.head, from.head});
      loop.add(rows, {to.row, from.row});
      loop.add(size, {1, 1});
      cache_copies_.push_back({i, output, first * to.row, {context.dtype(i), loop}});
    };
    if (s_.past > 0) add(past, 0, s_.past, s_.cache_layout(s_.kv_heads, s_.past, size));
    add(input, s_.past, s_.keys, s_.layout(s_.kv_heads, s_.keys, size));
  }

  static constexpr std::int64_t kTile = 64;  // queries

  using Given = typename AttentionMask<A>::Given;

  [[nodiscard]] QueryTile tile(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return {b, h, i * kTile, std::min(kTile, s_.queries - i * kTile)};
  }
  /// The tile's row in the optional output of scores.
  [[nodiscard]] std::int64_t row_of(const QueryTile& t) const {
    return ((t.b * s_.q_heads + t.h) * s_.queries + t.first) * s_.total();
  }

  template <class Context>
  [[nodiscard]] AttentionMatrices<A> read(const Context& context, A* scratch) const {
    return {s_, q_.read(context, scratch),
            key_ranges(s_, past_k_.read(context, scratch), past_v_.read(context, scratch),
                       k_.read(context, scratch), v_.read(context, scratch))};
  }

  /// Computes the attention probabilities of a tile. Unless null, `capped` receives the scores
  /// before the mask, and `shown` those of the stage of the optional output. Shapes: each is count
  /// x total.
  void probabilities(const AttentionMatrices<A>& matrices, const Given& given, const QueryTile& t,
                     A* scores, A* capped, A* shown) const {
    const std::int64_t total = s_.total(), size = t.count * total;
    const auto show = [&](ScoreStage stage) {
      if (shown && stage == rules_.shown) std::copy_n(scores, size, shown);
    };
    matrices.score(t, scale_, scores);
    show(ScoreStage::scaled);
    for (std::int64_t i = 0; softcap_ > 0 && i < size; ++i) {
      scores[i] = softcap_ * std::tanh(scores[i] / softcap_);
    }
    show(ScoreStage::capped);
    if (capped) std::copy_n(scores, size, capped);
    for (std::int64_t i = 0; i < t.count; ++i) {
      A* row = scores + i * total;
      const bool any = mask_.add(given, t, t.first + i, row);
      if (shown && rules_.shown == ScoreStage::masked) std::copy_n(row, total, shown + i * total);
      if (any) {
        softmax_(row, total);
      } else {
        std::fill_n(row, total, A(0));
      }
    }
    show(ScoreStage::softmax);
  }

  /// Output gradients, and requested input gradients; null if absent.
  struct Gradients {
    const A *y, *shown;
    A *query, *mask;
    std::array<KeyRange<A>, 2> ranges;
  };

  Gradients begin(GradContext& context) const {
    const auto arriving = [&](std::size_t i) { return arriving_gradient<A>(context, i); };
    const auto wanted = [&](std::size_t i) { return zeroed_gradient<A>(context, i); };
    Gradients result{.y = arriving(Out::Y),
                     .shown = arriving(Out::qk_matmul_output),
                     .query = wanted(In::Q),
                     .mask = wanted(In::attn_mask),
                     .ranges = key_ranges(s_, wanted(In::past_key), wanted(In::past_value),
                                          wanted(In::K), wanted(In::V))};
    for (const auto& range : result.ranges) {
      add_present(arriving(Out::present_key), range.key, range.key_layout, range, s_.size);
      add_present(arriving(Out::present_value), range.value, range.value_layout, range,
                  s_.value_size);
    }
    return result;
  }

  /// The gradient of present keys and values flows to the given ones, range by range.
  void add_present(const A* arriving, A* wanted, const HeadLayout& at, const KeyRange<A>& range,
                   std::int64_t size) const {
    if (!arriving || !wanted) return;
    const HeadLayout present = s_.cache_layout(s_.kv_heads, s_.total(), size);
    for (std::int64_t b = 0; b < s_.batch; ++b) {
      for (std::int64_t h = 0; h < s_.kv_heads; ++h) {
        const A* from = arriving + present.offset(b, h) + range.first * present.row;
        A* to = wanted + at.offset(b, h);
        for (std::int64_t r = 0; r < range.count; ++r) {
          std::copy_n(from + r * present.row, size, to + r * at.row);
        }
      }
    }
  }

  /// Shapes: `memory` is 3 x count x total.
  void run_back(const AttentionMatrices<A>& m, const Given& given, const Gradients& d,
                const QueryTile& t, A* memory) const {
    const std::int64_t total = s_.total(), size = t.count * total, kv_head = t.h / s_.group();
    A *p = memory, *ds = p + tile_size_, *capped = ds + tile_size_;
    probabilities(m, given, t, p, capped, nullptr);
    const A* shown = d.shown ? d.shown + row_of(t) : nullptr;
    const auto add_shown = [&](ScoreStage stage) {
      for (std::int64_t i = 0; shown && stage == rules_.shown && i < size; ++i) ds[i] += shown[i];
    };
    // dP = dY V^T;  dV += P^T dY
    std::fill_n(ds, size, A(0));
    for (std::size_t k = 0; d.y && k < d.ranges.size(); ++k) {
      const auto& range = m.ranges[k];
      const HeadLayout at = range.value_layout;
      const MatrixView<const A> dy = m.outputs(d.y, t);
      matrix_product<A>(
          dy, {range.value + at.offset(t.b, kv_head), s_.value_size, range.count, at.row, true},
          {ds + range.first, t.count, range.count, total});
      if (!d.ranges[k].value) continue;
      matrix_product<A>(
          {p + range.first, range.count, t.count, total, true}, dy,
          {d.ranges[k].value + at.offset(t.b, kv_head), range.count, s_.value_size, at.row}, A(1),
          A(1));
    }
    add_shown(ScoreStage::softmax);
    // dS = P (dP - sum of P dP)
    for (std::int64_t i = 0; i < t.count; ++i) {
      A *row = ds + i * total, sum = 0;
      const A* probability = p + i * total;
      for (std::int64_t j = 0; j < total; ++j) sum += probability[j] * row[j];
      for (std::int64_t j = 0; j < total; ++j) row[j] = probability[j] * (row[j] - sum);
      mask_.for_each_visible(given, t, t.first + i, [&](std::int64_t j, std::int64_t place) {
        if (shown && rules_.shown == ScoreStage::masked) row[j] += shown[i * total + j];
        if (d.mask) d.mask[place] += row[j];
      });
    }
    add_shown(ScoreStage::capped);
    for (std::int64_t i = 0; softcap_ > 0 && i < size; ++i) {
      const A slope = capped[i] / softcap_;  // derivative of tanh: 1 - tanh^2
      ds[i] *= A(1) - slope * slope;
    }
    add_shown(ScoreStage::scaled);
    // dQ = scale dS K;  dK += scale dS^T Q
    for (std::size_t k = 0; k < d.ranges.size(); ++k) {
      const auto& range = m.ranges[k];
      const HeadLayout at = range.key_layout;
      if (d.query) {
        const MatrixView<const A> q = m.queries(t);
        matrix_product<A>({ds + range.first, t.count, range.count, total},
                          {range.key + at.offset(t.b, kv_head), range.count, s_.size, at.row},
                          {d.query + (q.data - m.query), q.rows, q.columns, q.stride}, scale_,
                          A(1));
      }
      if (d.ranges[k].key) {
        matrix_product<A>({ds + range.first, range.count, t.count, total, true}, m.queries(t),
                          {d.ranges[k].key + at.offset(t.b, kv_head), range.count, s_.size, at.row},
                          scale_, A(1));
      }
    }
  }

  AttentionSizes s_;
  AttentionRules rules_;
  A scale_, softcap_;
  SoftmaxRow<A> softmax_ = nullptr;
  std::vector<CacheCopy> cache_copies_;
  InputAs<A> q_, k_, v_, past_k_, past_v_;
  AttentionMask<A> mask_;
  OutputAs<A> y_, shown_;
  std::int64_t tiles_;  // tiles per head
  std::int64_t at_;     // offset of the tiles in scratch
  std::int64_t tile_size_;
  Chunks chunks_, back_chunks_;
};

}  // namespace

DType softmax_type(std::int64_t precision, std::string_view who) {
  for (const DType type : {DType::float32, DType::float16, DType::float64, DType::bfloat16}) {
    if (precision == std::int64_t(type)) return type;
  }
  throw ValueError(fmt::format(
      "{}: softmax_precision is {}, expected 1 (float32), 10 (float16), 11 (float64) or 16 "
      "(bfloat16)",
      who, precision));
}

std::unique_ptr<Kernel> attention_kernel(const AttentionSizes& sizes, const AttentionRules& rules,
                                         DType arithmetic, PlanContext& context) {
  return kernel_for(RealTypes{}, arithmetic, context, [&]<class A>() {
    return std::make_unique<AttentionKernel<A>>(sizes, rules, context);
  });
}

}  // namespace d5::detail
