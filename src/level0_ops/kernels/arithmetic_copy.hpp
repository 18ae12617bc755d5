// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/operator/conversion.hpp"

// Conversions for kernels that compute in A, float or double, with tensors of other element types:
// small floats, or several types in one operator.
namespace d5::detail {

/// An input as elements of A: in place if it has that type, otherwise in scratch.
template <class A>
class InputAs {
 public:
  /// Adds the required scratch, in elements of A, to `scratch`. An omitted input needs none.
  InputAs(const InferContext& context, std::size_t i, std::int64_t& scratch) : i_(i) {
    if (!context.has_input(i) || context.dtype(i) == dtype_of<A>) return;
    at_ = scratch;
    scratch += context.input(i).elements();
    conversion_.emplace(context.dtype(i), dtype_of<A>);
  }
  /// Null for an omitted input.
  template <class Context>
  [[nodiscard]] const A* read(const Context& context, A* scratch) const {
    if (!context.has_input(i_)) return nullptr;
    const Tensor& x = context.input(i_);
    if (!conversion_) return x.template data<A>();
    conversion_->run(scratch + at_, x.raw(), x.elements());
    return scratch + at_;
  }

 private:
  std::size_t i_;
  std::int64_t at_ = 0;
  std::optional<Conversion> conversion_;
};

/// An output that is written as elements of A and rounded once.
template <class A>
class OutputAs {
 public:
  /// As `InputAs`.
  OutputAs(const PlanContext& context, std::size_t i, std::int64_t& scratch) : i_(i) {
    if (!context.wants_output(i) || context.output(i).dtype == dtype_of<A>) return;
    at_ = scratch;
    scratch += context.output(i).elements();
    conversion_.emplace(dtype_of<A>, context.output(i).dtype);
  }
  /// The memory to write to; null for an unwanted output.
  [[nodiscard]] A* memory(const OpContext& context, A* scratch) const {
    if (!context.wants_output(i_)) return nullptr;
    return conversion_ ? scratch + at_ : context.output(i_).template data<A>();
  }
  /// Called after all elements are written.
  void finish(const OpContext& context, const A* scratch) const {
    if (!conversion_) return;
    Tensor& y = context.output(i_);
    conversion_->run(y.raw(), scratch + at_, y.elements());
  }

 private:
  std::size_t i_;
  std::int64_t at_ = 0;
  std::optional<Conversion> conversion_;
};

}  // namespace d5::detail
