// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: rotates pairs of elements by an angle that depends on the position.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/attention/attention_sizes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using RotaryEmbeddingView = onnx::nodes::RotaryEmbedding;
using In = RotaryEmbeddingView::In;

/// Rows of `size` elements, of which the first 2 `pairs` are rotated; the elements of a pair are
/// `step` apart.
struct Rotation {
  std::int64_t batch = 0, heads = 0, positions = 0, size = 0, pairs = 0;
  detail::HeadLayout layout{};
  bool interleaved = false;
  std::int64_t angles = 0;  ///< rows of the caches

  [[nodiscard]] std::int64_t rows() const { return batch * heads * positions; }
  /// The first element of row `i` in X.
  [[nodiscard]] std::int64_t offset(std::int64_t i) const {
    return layout.offset(i / (heads * positions), i / positions % heads) +
           i % positions * layout.row;
  }
  /// The token of row `i`: b * positions + position.
  [[nodiscard]] std::int64_t token(std::int64_t i) const {
    return i / (heads * positions) * positions + i % positions;
  }
  [[nodiscard]] std::int64_t first(std::int64_t pair) const {
    return interleaved ? 2 * pair : pair;
  }
  [[nodiscard]] std::int64_t step() const { return interleaved ? 1 : pairs; }
};

/// y1 = cos x1 - sin x2;  y2 = sin x1 + cos x2
template <class T>
class RotaryEmbeddingKernel final : public Kernel {
 public:
  explicit RotaryEmbeddingKernel(const Rotation& rotation) : r_(rotation) {}

  void forward(OpContext& context) override {
    using A = Arithmetic<T>;
    const T* x = context.input(In::X).data<T>();
    const T* cos = context.input(In::cos_cache).data<T>();
    const T* sin = context.input(In::sin_cache).data<T>();
    T* y = context.output(RotaryEmbeddingView::Out::Y).data<T>();
    const std::int64_t* positions = positions_of(context);
    for_each_row([&](std::int64_t i) {
      const std::int64_t at = r_.offset(i), angle = angle_of(positions, i) * r_.pairs;
      for (std::int64_t k = 0; k < r_.pairs; ++k) {
        const std::int64_t first = at + r_.first(k), second = first + r_.step();
        const A c = A(cos[angle + k]), s = A(sin[angle + k]), a = A(x[first]), b = A(x[second]);
        y[first] = T(c * a - s * b);
        y[second] = T(s * a + c * b);
      }
      std::copy_n(x + at + 2 * r_.pairs, r_.size - 2 * r_.pairs, y + at + 2 * r_.pairs);
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* dy = context.grad_output(RotaryEmbeddingView::Out::Y).data<T>();
      const std::int64_t* positions = positions_of(context);
      if (context.wants_grad(In::X)) {
        const T* cos = context.input(In::cos_cache).data<T>();
        const T* sin = context.input(In::sin_cache).data<T>();
        T* dx = context.grad_input(In::X).data<T>();
        for_each_row([&](std::int64_t i) {
          const std::int64_t at = r_.offset(i), angle = angle_of(positions, i) * r_.pairs;
          for (std::int64_t k = 0; k < r_.pairs; ++k) {
            const std::int64_t first = at + r_.first(k), second = first + r_.step();
            dx[first] = cos[angle + k] * dy[first] + sin[angle + k] * dy[second];
            dx[second] = cos[angle + k] * dy[second] - sin[angle + k] * dy[first];
          }
          std::copy_n(dy + at + 2 * r_.pairs, r_.size - 2 * r_.pairs, dx + at + 2 * r_.pairs);
        });
      }
      add_cache_gradient(context, In::cos_cache, dy, positions,
                         [](T a, T b, T da, T db) { return a * da + b * db; });
      add_cache_gradient(context, In::sin_cache, dy, positions,
                         [](T a, T b, T da, T db) { return a * db - b * da; });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {In::X, In::cos_cache, In::sin_cache, In::position_ids},
            .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(x1, x2, dy1, dy2)` for each pair.
  template <class F>
  void add_cache_gradient(GradContext& context, std::size_t i, const T* dy,
                          const std::int64_t* positions, F f) const {
    if (!context.wants_grad(i)) return;
    const T* x = context.input(In::X).data<T>();
    Tensor& gradient = context.grad_input(i);
    T* sum = gradient.data<T>();
    std::fill_n(sum, gradient.elements(), T(0));
    for (std::int64_t row = 0; row < r_.rows(); ++row) {
      const std::int64_t at = r_.offset(row), angle = angle_of(positions, row) * r_.pairs;
      for (std::int64_t k = 0; k < r_.pairs; ++k) {
        const std::int64_t first = at + r_.first(k), second = first + r_.step();
        sum[angle + k] += f(x[first], x[second], dy[first], dy[second]);
      }
    }
  }

  /// Null if each token has its own row of angles.
  template <class Context>
  const std::int64_t* positions_of(const Context& context) const {
    if (!context.has_input(In::position_ids)) return nullptr;
    const auto* positions = context.input(In::position_ids).template data<std::int64_t>();
    for (std::int64_t i = 0; i < r_.batch * r_.positions; ++i) {
      if (positions[i] >= 0 && positions[i] < r_.angles) continue;
      throw ValueError(fmt::format("{}: position_ids has {}, expected 0 to {}", context.who(),
                                   positions[i], r_.angles - 1));
    }
    return positions;
  }
  std::int64_t angle_of(const std::int64_t* positions, std::int64_t row) const {
    return positions ? positions[r_.token(row)] : r_.token(row);
  }
  template <class F>
  void for_each_row(F&& f) const {
    detail::parallel_for_each(r_.rows(), r_.size, 16384, f);
  }

  Rotation r_;
};

/// Shapes: X and Y are B x H x S x D or packed, B x S x (H D); the caches P x R/2 with positions
/// B x S, or B x S x R/2 without; R elements of each row are rotated, all if it is 0.
/// Source: Su et al., "RoFormer" (2021).
class RotaryEmbedding final : public Operator {
 public:
  explicit RotaryEmbedding(const RotaryEmbeddingView& view)
      : heads_(view.num_heads()),
        turned_(view.rotary_embedding_dim()),
        interleaved_(view.interleaved() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)rotation(context);
    return {context.input(In::X)};
  }

  Places gradients() const override { return {In::X, In::cos_cache, In::sin_cache}; }

  /// Four products and two sums per pair.
  Cost cost(const InferContext& context) const override {
    const Rotation r = rotation(context);
    return with_flop(context, 6.0 * double(r.rows()) * double(r.pairs));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(In::X), context, [&]<class T>() {
      return std::make_unique<RotaryEmbeddingKernel<T>>(rotation(context));
    });
  }

 private:
  Rotation rotation(const InferContext& context) const {
    const Shape& x = context.shape(In::X);
    Rotation r{.interleaved = interleaved_};
    if (x.rank() == 4) {
      r.batch = x[0], r.heads = x[1], r.positions = x[2], r.size = x[3];
      r.layout = {r.heads * r.positions * r.size, r.positions * r.size, r.size};
    } else if (x.rank() == 3) {
      if (!heads_ || *heads_ < 1 || x[2] % *heads_ != 0) {
        throw ValueError(fmt::format(
            "{}: num_heads is {}, expected a number that divides the last dimension of X, {}",
            context.who(), heads_ ? std::to_string(*heads_) : "missing", to_string(x)));
      }
      r.batch = x[0], r.heads = *heads_, r.positions = x[1], r.size = x[2] / *heads_;
      r.layout = {r.positions * x[2], r.size, x[2]};
    } else {
      throw ShapeError(fmt::format("{}: X is {}, expected three dimensions or four", context.who(),
                                   to_string(x)));
    }
    const std::int64_t turned = turned_ == 0 ? r.size : turned_;
    if (turned < 0 || turned > r.size || turned % 2 != 0) {
      throw ValueError(fmt::format(
          "{}: {} elements of each row are to be rotated, expected an even number of 0 to {}",
          context.who(), turned, r.size));
    }
    r.pairs = turned / 2;
    expect_cache(context, In::cos_cache, "cos_cache", r);
    expect_cache(context, In::sin_cache, "sin_cache", r);
    if (context.has_input(In::position_ids)) {
      r.angles = context.shape(In::cos_cache)[0];
      detail::expect_shape(context, In::sin_cache, "sin_cache", context.shape(In::cos_cache));
      detail::expect_shape(context, In::position_ids, "position_ids", {r.batch, r.positions});
    }
    return r;
  }

  static void expect_cache(const InferContext& context, std::size_t i, std::string_view name,
                           const Rotation& r) {
    const Shape& cache = context.shape(i);
    if (!context.has_input(In::position_ids)) {
      return detail::expect_shape(context, i, name, {r.batch, r.positions, r.pairs});
    }
    if (cache.rank() == 2 && cache[1] == r.pairs) return;
    throw ShapeError(fmt::format("{}: {} is {}, expected two dimensions, the second being {}",
                                 context.who(), name, to_string(cache), r.pairs));
  }

  std::optional<std::int64_t> heads_;
  std::int64_t turned_;
  bool interleaved_;
};

}  // namespace

void register_rotary_embedding(OperatorRegistry& registry) {
  registry.add<RotaryEmbedding, RotaryEmbeddingView>();
}

}  // namespace d5::ops
