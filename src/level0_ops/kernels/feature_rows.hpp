// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level0_ops/infer_context.hpp"

namespace d5::detail {

/// What most operators of ai.onnx.ml take.
using FeatureTypes = Types<float, double, std::int32_t, std::int64_t>;

/// Input 0 of a model: a row of features for each sample. A vector is one row.
struct FeatureRows {
  std::int64_t rows, features;
};

/// Throws: ShapeError for an input of other than one or two dimensions.
[[nodiscard]] FeatureRows feature_rows(const InferContext& context);

}  // namespace d5::detail
