// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/moving/stack_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::detail {
namespace {

TensorDesc stack_desc(const TensorDesc& slice, std::size_t place, std::int64_t count) {
  std::vector<std::int64_t> dims(slice.shape.begin(), slice.shape.end());
  dims.insert(dims.begin() + std::ptrdiff_t(place), count);
  TensorDesc whole = slice;
  whole.shape = Shape(std::move(dims));
  return whole;
}

}  // namespace

void StackedSlices::begin(std::int64_t expected, std::int64_t axis, bool backwards) {
  if (axis != axis_) of_described_ = 0;
  capacity_ = std::max<std::int64_t>(expected, 1);
  axis_ = axis;
  backwards_ = backwards;
  count_ = 0;
}

/// Replaces `whole_` by memory for `capacity` slices.
void StackedSlices::take(const OpContext& context, std::int64_t capacity) {
  if (of_described_ != capacity) described_ = stack_desc(slice_, place_, capacity);
  of_described_ = capacity_ = capacity;
  whole_ = memory_.take(described_,
                        [&](const TensorDesc& desc) { return context.services().allocate(desc); });
}

void StackedSlices::add(const OpContext& context, const Tensor& slice) {
  if (count_ == 0) {
    if (slice.desc() != slice_) {
      slice_ = slice.desc();
      of_described_ = 0;
    }
    if (of_described_ == 0) {
      place_ = normalize_axis(axis_, slice_.shape.rank() + 1, context.who());
    }
    take(context, capacity_);
  } else if (slice.desc() != slice_) {
    throw ShapeError(fmt::format("{}: iteration {} made {}, but the first one {}", context.who(),
                                 count_, to_string(slice.desc()), to_string(slice_)));
  }
  if (count_ == capacity_) {
    const Tensor before = whole_.tensor();
    take(context, 2 * capacity_);
    copy_elements(before.dtype(), whole_.tensor().raw(), before.raw(), before.elements());
  }
  const std::int64_t at = backwards_ ? capacity_ - 1 - count_ : count_;
  ++count_;
  Tensor& whole = whole_.tensor();
  if (place_ == 0) {
    copy_elements(slice.dtype(), element(whole, at * slice.elements()), slice.raw(),
                  slice.elements());
  } else {
    TensorPart(whole.desc(), place_, at, 1).paste(slice, whole);
  }
}

void StackedSlices::fill_up(const OpContext& context) {
  if (count_ == capacity_) return;
  Tensor nothing = context.services().allocate(slice_);
  zero_elements(nothing);
  while (count_ < capacity_) add(context, nothing);
}

const Value& StackedSlices::whole(const OpContext& context) {
  if (count_ < capacity_) {
    const Tensor longer = whole_.tensor();
    take(context, count_);
    copy_elements(longer.dtype(), whole_.tensor().raw(), longer.raw(), whole_.tensor().elements());
  }
  return whole_;
}

Tensor stack_values(const OpContext& context, const std::vector<Value>& slices) {
  StackedSlices stack;
  stack.begin(std::int64_t(slices.size()));
  for (const Value& slice : slices) stack.add(context, slice.tensor());
  return stack.whole(context).tensor();
}

TensorDesc slice_desc(const TensorDesc& whole, std::size_t axis) {
  Shape shape;
  for (std::size_t d = 0; d < whole.shape.rank(); ++d) {
    if (d != axis) shape.push_back(whole.shape[d]);
  }
  return {whole.dtype, shape};
}

Tensor slice_of(RunServices& services, const Tensor& x, std::size_t axis, std::int64_t i) {
  Tensor result = services.allocate(slice_desc(x.desc(), axis));
  TensorPart(x.desc(), axis, i, 1).cut(x, result);
  return result;
}

Tensor copy_of(RunServices& services, const Tensor& x) {
  Tensor result = services.allocate(x.desc());
  result.copy_from(x);
  return result;
}

}  // namespace d5::detail
