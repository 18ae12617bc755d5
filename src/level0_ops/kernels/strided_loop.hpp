// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "d5/core/tensor/shape.hpp"

namespace d5::detail {

/// Iterates over up to four tensors together, each with its own step along each dimension (0 if
/// broadcast). Dimensions that are contiguous for all tensors are merged, so that the innermost
/// one, the row, is as long as possible. Allocates nothing.
///
///     StridedLoop loop(2);
///     loop.add(3, {4, 1});  // outermost first: 3 steps of 4 in the one, of 1 in the other
///     loop.run([&](const StridedLoop::Offsets& at, std::int64_t count) {
///       for (std::int64_t i = 0; i < count; ++i)
///         to[at[0] + i * loop.step(0)] = from[at[1] + i * loop.step(1)];
///     });
class StridedLoop {
 public:
  static constexpr std::size_t kMostOperands = 4;
  static constexpr std::size_t kMostDims = 24;  // after merging
  using Offsets = std::array<std::int64_t, kMostOperands>;

  explicit StridedLoop(std::size_t operands) : operands_(operands) {}

  /// Adds a dimension inside the existing ones. Throws: Unsupported above `kMostDims`.
  void add(std::int64_t size, std::initializer_list<std::int64_t> steps);
  void add(std::int64_t size, const Offsets& steps);

  /// The step of operand `k` along a row, in elements.
  [[nodiscard]] std::int64_t step(std::size_t k) const {
    return rank_ == 0 ? 1 : dims_[rank_ - 1].steps[k];
  }
  [[nodiscard]] std::int64_t row_length() const { return rank_ == 0 ? 1 : dims_[rank_ - 1].size; }
  /// The total number of visits.
  [[nodiscard]] std::int64_t elements() const;

  /// Calls `row(offsets, count)` on pieces of rows, on several threads if worthwhile. No two visits
  /// may write the same element, and `row` must not throw.
  template <class F>
  void run(const F& row) const {
    if (rank_ <= 1 && row_length() < 2 * kGrain) {
      if (row_length() > 0) call<F>(&row, Offsets{}, row_length());
    } else {
      walk(&row, &call<F>, Order::any);
    }
  }
  /// The same on this thread, row by row, in order.
  template <class F>
  void run_in_order(const F& row) const {
    walk(&row, &call<F>, Order::kept);
  }

 private:
  static constexpr std::int64_t kGrain = 16384;  // below, a thread costs more than it saves
  enum class Order { any, kept };
  struct Dim {
    std::int64_t size;
    Offsets steps;
  };
  using Row = void (*)(const void*, const Offsets&, std::int64_t);
  template <class F>
  static void call(const void* row, const Offsets& at, std::int64_t count) {
    (*static_cast<const F*>(row))(at, count);
  }
  void walk(const void* f, Row row, Order order) const;
  void walk_piece(std::int64_t begin, std::int64_t end, const void* f, Row row) const;

  std::size_t operands_;
  std::size_t rank_ = 0;
  std::array<Dim, kMostDims> dims_;
};

/// A loop over `out`, operand 0, and tensors broadcast to it. Shapes: each of `inputs` can be
/// broadcast to `out`.
[[nodiscard]] StridedLoop broadcast_loop(const Shape& out,
                                         std::initializer_list<const Shape*> inputs);

}  // namespace d5::detail
