// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "d5/level0_ops/operator/infer_context.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {

/// What most operators of ai.onnx.ml take.
using FeatureTypes = Types<float, double, std::int32_t, std::int64_t>;

/// Input 0 of a model: a row of features for each sample. A vector is one row.
struct FeatureRows {
  std::int64_t rows, features;
};

/// Throws: ShapeError for an input of other than one or two dimensions.
[[nodiscard]] FeatureRows feature_rows(const InferContext& context);

/// Calls `f(row, numbers)` for each of `rows`, each of which is `work` multiplications or so, in
/// parallel: it has `count` doubles of the scratch memory, of which the plan requests
/// `rows * count`.
template <class Context, class F>
void for_each_row(std::int64_t rows, std::int64_t count, std::int64_t work, const Context& context,
                  const F& f) {
  parallel_for_each(rows, work, 16384, [&](std::int64_t r) {
    f(r, std::span(context.template scratch_as<double>() + r * count, std::size_t(count)));
  });
}

}  // namespace d5::detail
