// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pass.hpp"

namespace d5::onednn {

/// y = a b, followed by `post_ops` with the inputs `extras`. Dimensions before the last two are
/// broadcast; those missing in y are summed.
///
/// Shapes: a ...xMxK, b ...xKxN, y ...xMxN, all of the same rank.
void add_product(Pass& pass, const Argument& a, const Argument& b, const Argument& y,
                 const dnnl::post_ops& post_ops = {}, const std::vector<Pass::Bound>& extras = {});

/// Operands of a product by NumPy's matmul rules, with equal ranks: a vector is a matrix of one row
/// (a) or one column (b), and leading dimensions of 1 are added.
struct ProductDescs {
  ProductDescs(const TensorDesc& a, const TensorDesc& b, const TensorDesc& y);
  Desc a, b, y;
};

/// Layout of b with which the product is fastest.
[[nodiscard]] Desc preferred_weights(const Desc& a, const Desc& b, const Desc& y,
                                     const dnnl::post_ops& post_ops = {});

/// The transposed matrices, without moving elements.
[[nodiscard]] Argument turned(const Argument& matrices);

/// y = factor * x, summed over the dimensions in which y has size 1. Both have the same rank.
void add_sum_to(Pass& pass, const Argument& x, const Argument& y, float factor = 1);

}  // namespace d5::onednn
