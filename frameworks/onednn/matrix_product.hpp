// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pass.hpp"

namespace d5::onednn {

/// y = a b, with `post_ops` behind it, whose inputs are `extras`. Dimensions before the last two
/// are broadcast; those that y lacks are added up.
///
/// Shapes: a ...xMxK, b ...xKxN, y ...xMxN, all of one rank.
void add_product(Pass& pass, const Argument& a, const Argument& b, const Argument& y,
                 const dnnl::post_ops& post_ops = {}, const std::vector<Pass::Bound>& extras = {});

/// The operands of a product as NumPy's matmul has them, in one rank: a vector is a matrix of one
/// row (a) or one column (b), and ones stand in front.
struct ProductDescs {
  ProductDescs(const TensorDesc& a, const TensorDesc& b, const TensorDesc& y);
  Desc a, b, y;
};

/// The layout of b that makes the same product fastest.
[[nodiscard]] Desc preferred_weights(const Desc& a, const Desc& b, const Desc& y,
                                     const dnnl::post_ops& post_ops = {});

/// The same matrices transposed, not moved.
[[nodiscard]] Argument turned(const Argument& matrices);

/// y = factor * x, summed over the dimensions in which y has size 1. Both have the same rank.
void add_sum_to(Pass& pass, const Argument& x, const Argument& y, float factor = 1);

}  // namespace d5::onednn
