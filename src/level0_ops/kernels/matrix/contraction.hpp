// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "level0_ops/kernels/accumulator.hpp"
#include "level0_ops/kernels/matrix/einsum_equation.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {

/// Sums of products: each element of one of the operands of an Einsum, the target, from all others.
/// The output is a target, and so is each input for its gradient. Makes no allocation.
class Contraction {
 public:
  static constexpr std::size_t kMostIndices = 64;

  /// `indices`: of `operands` operands. Throws: Unsupported above `kMostIndices`.
  Contraction(const std::vector<EinsumIndex>& indices, std::size_t operands, std::size_t target);

  /// Adds up each element that `to` has on the indices; it writes no other. `operand(k)` is where
  /// operand k begins.
  template <class T, class F>
  void run(T* to, const F& operand) const {
    parallel_for_each(results_, terms_, 16384, [&](std::int64_t i) {
      Place at{};
      for (std::size_t d = kept_; d-- > 0; i /= indices_[d].size) at[d] = i % indices_[d].size;
      to[offset(target_, at)] = T(Arithmetic<T>(sum<T>(at, operand)));
    });
  }

 private:
  static constexpr std::int64_t kRow = 64;  // products that are made side by side
  using Place = std::array<std::int64_t, kMostIndices>;

  [[nodiscard]] std::int64_t offset(std::size_t operand, const Place& at) const {
    std::int64_t result = 0;
    for (std::size_t d = 0; d < indices_.size(); ++d) {
      result += at[d] * indices_[d].steps[operand];
    }
    return result;
  }

  template <class T, class F>
  Accumulator<Arithmetic<T>> sum(Place& at, const F& operand) const {
    using A = Accumulator<Arithmetic<T>>;
    A total = 0;
    if (terms_ == 0) return total;
    const EinsumIndex& row = indices_.back();
    std::int64_t& along = at[indices_.size() - 1];
    do {
      for (along = 0; along < row.size; along += kRow) {
        const std::int64_t count = std::min(kRow, row.size - along);
        std::array<A, kRow> products;
        std::fill_n(products.begin(), count, A(1));
        for (std::size_t k = 0; k < operands_; ++k) {
          if (k == target_) continue;
          const T* x = operand(k) + offset(k, at);
          const std::int64_t step = row.steps[k];
          for (std::int64_t i = 0; i < count; ++i) {
            products[std::size_t(i)] *= A(Arithmetic<T>(x[i * step]));
          }
        }
        for (std::int64_t i = 0; i < count; ++i) total += products[std::size_t(i)];
      }
    } while (next_row(at));
    return total;
  }

  /// False after the last one.
  bool next_row(Place& at) const {
    for (std::size_t d = indices_.size() - 1; d-- > kept_;) {
      if (++at[d] < indices_[d].size) return true;
      at[d] = 0;
    }
    return false;
  }

  std::vector<EinsumIndex> indices_;  // first those of the target, then those to sum over
  std::size_t kept_ = 0, operands_, target_;
  std::int64_t results_ = 1;
  std::int64_t terms_ = 1;  // of each sum; the most there can be where they are more
};

}  // namespace d5::detail
