// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/strided_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"

namespace d5::detail {

void StridedLoop::add(std::int64_t size, std::initializer_list<std::int64_t> steps) {
  Offsets all{};
  std::copy_n(steps.begin(), std::min(steps.size(), kMostOperands), all.begin());
  add(size, all);
}

void StridedLoop::add(std::int64_t size, const Offsets& steps) {
  if (size == 1) return;
  if (rank_ > 0) {
    Dim& outer = dims_[rank_ - 1];
    bool merges = true;
    for (std::size_t k = 0; k < operands_; ++k) merges &= outer.steps[k] == steps[k] * size;
    if (merges) {
      outer = {outer.size * size, steps};
      return;
    }
  }
  if (rank_ == kMostDims) {
    throw Unsupported(fmt::format("a tensor with more than {} dimensions", kMostDims));
  }
  dims_[rank_++] = {size, steps};
}

std::int64_t StridedLoop::elements() const {
  std::int64_t result = 1;
  for (std::size_t d = 0; d < rank_; ++d) result *= dims_[d].size;
  return result;
}

void StridedLoop::walk(const void* f, Row row, Order order) const {
  const std::int64_t count = elements();
  if (count == 0) return;
  if (order == Order::kept || count < 2 * kGrain) {
    walk_piece(0, count, f, row);
    return;
  }
  parallel_for(count, kGrain,
               [=, this](std::int64_t begin, std::int64_t end) { walk_piece(begin, end, f, row); });
}

void StridedLoop::walk_piece(std::int64_t begin, std::int64_t end, const void* f, Row row) const {
  Offsets at{};
  if (rank_ == 0) {
    row(f, at, 1);
    return;
  }
  // The position of `begin`, dimension by dimension.
  std::array<std::int64_t, kMostDims> index;
  std::int64_t rest = begin;
  for (std::size_t d = rank_; d-- > 0;) {
    index[d] = rest % dims_[d].size;
    rest /= dims_[d].size;
    for (std::size_t k = 0; k < operands_; ++k) at[k] += index[d] * dims_[d].steps[k];
  }
  const Dim& inner = dims_[rank_ - 1];
  for (std::int64_t position = begin; position < end;) {
    const std::int64_t count = std::min(inner.size - index[rank_ - 1], end - position);
    row(f, at, count);
    position += count;
    for (std::size_t k = 0; k < operands_; ++k) at[k] -= index[rank_ - 1] * inner.steps[k];
    index[rank_ - 1] = 0;
    for (std::size_t d = rank_ - 1; d-- > 0;) {
      const Dim& dim = dims_[d];
      for (std::size_t k = 0; k < operands_; ++k) at[k] += dim.steps[k];
      if (++index[d] < dim.size) break;
      for (std::size_t k = 0; k < operands_; ++k) at[k] -= dim.size * dim.steps[k];
      index[d] = 0;
    }
  }
}

StridedLoop broadcast_loop(const Shape& out, std::initializer_list<const Shape*> inputs) {
  StridedLoop loop(inputs.size() + 1);
  StridedLoop::Offsets step{};  // strides of the current dimension, from the outermost inwards
  if (out.elements() == 0) {
    loop.add(0, step);
    return loop;
  }
  step[0] = out.elements();
  std::size_t k = 1;
  for (const Shape* input : inputs) step[k++] = input->elements();
  for (std::size_t d = 0; d < out.rank(); ++d) {
    StridedLoop::Offsets walked{};
    step[0] /= out[d];
    walked[0] = step[0];
    k = 1;
    for (const Shape* input : inputs) {
      const std::size_t missing = out.rank() - input->rank();
      if (d >= missing && (*input)[d - missing] != 1) {
        step[k] /= (*input)[d - missing];
        walked[k] = step[k];
      }
      ++k;
    }
    loop.add(out[d], walked);
  }
  return loop;
}

}  // namespace d5::detail
