// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "d5/level0_ops/operator/infer_context.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {

/// The input types of most operators of ai.onnx.ml.
using FeatureTypes = Types<float, double, std::int32_t, std::int64_t>;

/// Input 0 of a model: one row of features per sample. A vector is one row.
struct FeatureRows {
  std::int64_t rows, features;
};

/// Throws: ShapeError for an input of other than one or two dimensions.
[[nodiscard]] FeatureRows feature_rows(const InferContext& context);

/// Calls `f(row, numbers)` in parallel for each of `rows`, with about `work` multiplications each.
/// `numbers` are `count` doubles of scratch memory, of which the plan must request `rows * count`.
template <class Context, class F>
void for_each_row(std::int64_t rows, std::int64_t count, std::int64_t work, const Context& context,
                  const F& f) {
  parallel_for_each(rows, work, 16384, [&](std::int64_t r) {
    f(r, std::span(context.template scratch_as<double>() + r * count, std::size_t(count)));
  });
}

}  // namespace d5::detail
