// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/linear_model.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"

namespace d5::detail {

void LinearModel::check(const InferContext& context, std::int64_t scores) const {
  const std::int64_t features = feature_rows(context).features;
  if (scores < 1 || features < 1 || std::int64_t(coefficients.size()) % scores != 0 ||
      std::int64_t(coefficients.size()) / scores != features) {
    throw ShapeError(fmt::format("{}: X is {}, but there are {} coefficients for {} scores",
                                 context.who(), to_string(context.shape(0)), coefficients.size(),
                                 scores));
  }
  if (!intercepts.empty() && std::int64_t(intercepts.size()) != scores) {
    throw ValueError(
        fmt::format("{}: {} intercepts for {} scores", context.who(), intercepts.size(), scores));
  }
}

}  // namespace d5::detail
