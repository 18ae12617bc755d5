// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/sample_step.hpp"

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "d5/core/errors/error.hpp"

namespace d5 {

std::int64_t SampleView::elements() const {
  return std::accumulate(sizes.begin(), sizes.begin() + std::ptrdiff_t(rank), std::int64_t{1},
                         std::multiplies<>());
}

void SampleView::throw_wrong_type(DType asked) const {
  throw TypeError(fmt::format("a sample's tensor is {}, not {}", name_of(dtype), name_of(asked)));
}

}  // namespace d5
