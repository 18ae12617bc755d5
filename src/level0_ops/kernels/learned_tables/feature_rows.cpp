// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

FeatureRows feature_rows(const InferContext& context) {
  const Shape& x = context.shape(0);
  if (x.rank() == 1) return {1, x[0]};
  if (x.rank() == 2) return {x[0], x[1]};
  throw ShapeError(fmt::format("{}: X is {}, expected samples x features, or one row of features",
                               context.who(), to_string(x)));
}

}  // namespace d5::detail
