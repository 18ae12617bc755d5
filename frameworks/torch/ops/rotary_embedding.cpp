// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: rotates pairs of elements by an angle that depends on the position.
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/stack.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using RotaryEmbeddingView = onnx::nodes::RotaryEmbedding;
using RotaryEmbeddingIn = RotaryEmbeddingView::In;

/// Shapes: x and y B,H,S,D or packed B,S,H D; the caches P,R/2 with positions B,S, or B,S,R/2
/// without. The first R elements of each row are rotated.
class RotaryEmbedding final : public TorchKernel {
 public:
  explicit RotaryEmbedding(const PlanContext& context)
      : TorchKernel(context),
        interleaved_(RotaryEmbeddingView(node()).interleaved() != 0),
        sizes_(sizes_of(context.shape(RotaryEmbeddingIn::X)).vec()) {
    const Shape& cache = context.shape(RotaryEmbeddingIn::cos_cache);
    pairs_ = cache[cache.rank() - 1];
    if (sizes_.size() == 3) heads_ = RotaryEmbeddingView(node()).num_heads();
  }

  /// y1 = cos x1 - sin x2;  y2 = sin x1 + cos x2
  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor x = widened(inputs[RotaryEmbeddingIn::X]);
    if (heads_) x = x.unflatten(2, {*heads_, -1}).transpose(1, 2);
    const at::Tensor cos = angles(inputs, RotaryEmbeddingIn::cos_cache),
                     sin = angles(inputs, RotaryEmbeddingIn::sin_cache);
    at::Tensor turned = x.narrow(3, 0, 2 * pairs_);
    // The two elements of a pair are neighbours, or half a row apart.
    const std::int64_t pair_dim = interleaved_ ? 4 : 3;
    turned = interleaved_ ? turned.unflatten(3, {pairs_, 2}) : turned.unflatten(3, {2, pairs_});
    const at::Tensor a = turned.select(pair_dim, 0), b = turned.select(pair_dim, 1);
    turned = at::stack({cos * a - sin * b, sin * a + cos * b}, pair_dim).flatten(3);
    at::Tensor y = at::cat({turned, x.narrow(3, 2 * pairs_, x.size(3) - 2 * pairs_)}, 3);
    if (heads_) y = y.transpose(1, 2).reshape(sizes_);
    results[0] = y.to(inputs[RotaryEmbeddingIn::X].scalar_type());
  }

 private:
  /// Shapes: B,1,S,R/2
  at::Tensor angles(Inputs inputs, std::size_t i) const {
    at::Tensor cache = widened(inputs[i]);
    if (const auto positions = given(inputs, RotaryEmbeddingIn::position_ids)) {
      cache = at::index_select(cache, 0, positions->reshape({-1}))
                  .reshape({positions->size(0), positions->size(1), pairs_});
    }
    return cache.unsqueeze(1);
  }

  bool interleaved_;
  Sizes sizes_;
  std::int64_t pairs_;
  std::optional<std::int64_t> heads_;  // for a packed x
};

}  // namespace

void register_rotary_embedding(OperatorRegistry& registry) {
  add<RotaryEmbedding, RotaryEmbeddingView>(registry, computes_some);
}

}  // namespace d5::torch
