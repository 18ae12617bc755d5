// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/operator/conversion.hpp"

// For kernels that compute in A, float or double, whatever the element types of their tensors are:
// these are then small floats, or several types in one operator.
namespace d5::detail {

/// An input as elements of A: in place where it is that, in scratch otherwise.
template <class A>
class InputAs {
 public:
  /// `scratch` counts elements of A; what this input needs is added. An input that is left out
  /// needs nothing.
  InputAs(const InferContext& context, std::size_t i, std::int64_t& scratch) : i_(i) {
    if (!context.has_input(i) || context.dtype(i) == dtype_of<A>) return;
    at_ = scratch;
    scratch += context.input(i).elements();
    conversion_.emplace(context.dtype(i), dtype_of<A>);
  }
  /// Null for an input that is left out.
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

/// An output that is written as elements of A, and rounded once.
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
  /// Where to write; null for an output that nobody wants.
  [[nodiscard]] A* memory(const OpContext& context, A* scratch) const {
    if (!context.wants_output(i_)) return nullptr;
    return conversion_ ? scratch + at_ : context.output(i_).template data<A>();
  }
  /// Called when all is written.
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
