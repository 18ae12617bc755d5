// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/matrix/contraction.hpp"

#include <fmt/format.h>

#include <limits>

#include "d5/core/error.hpp"

namespace d5::detail {

Contraction::Contraction(const std::vector<EinsumIndex>& indices, std::size_t operands,
                         std::size_t target)
    : operands_(operands), target_(target) {
  if (indices.size() >= kMostIndices) {
    throw Unsupported(
        fmt::format("a sum over {} indices, of at most {}", indices.size(), kMostIndices - 1));
  }
  const auto is_kept = [&](const EinsumIndex& index) { return index.steps[target] != 0; };
  for (const EinsumIndex& index : indices) {
    if (!is_kept(index)) continue;
    indices_.push_back(index);
    results_ *= index.size;
  }
  kept_ = indices_.size();
  bool empty = false, overflow = false;
  for (const EinsumIndex& index : indices) {
    if (is_kept(index)) continue;
    indices_.push_back(index);
    empty |= index.size == 0;
    overflow |= __builtin_mul_overflow(terms_, index.size, &terms_);
  }
  if (overflow) terms_ = std::numeric_limits<std::int64_t>::max();
  if (empty) terms_ = 0;
  if (indices_.size() == kept_) indices_.push_back({1, std::vector<std::int64_t>(operands)});
}

}  // namespace d5::detail
