// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/moving/element_moving.hpp"

#include <algorithm>
#include <cstring>

namespace d5::detail {

void copy_elements(DType dtype, void* to, const void* from, std::int64_t count) {
  if (to == from || count == 0) return;
  if (dtype == DType::string) {
    std::copy_n(static_cast<const std::string*>(from), count, static_cast<std::string*>(to));
  } else {
    std::memcpy(to, from, std::size_t(count) * size_of(dtype));
  }
}

void zero_elements(Tensor& to) {
  if (to.dtype() == DType::string) {
    std::fill_n(to.data<std::string>(), to.elements(), std::string());
  } else if (to.bytes() > 0) {
    std::memset(to.raw(), 0, to.bytes());
  }
}

namespace {

template <class T, std::size_t kTo>
void copy_along(const StridedLoop& loop, void* to, const void* from) {
  const std::int64_t step_to = loop.step(kTo), step_from = loop.step(1 - kTo);
  loop.run([=](const StridedLoop::Offsets& at, std::int64_t count) {
    T* y = static_cast<T*>(to) + at[kTo];
    const T* x = static_cast<const T*>(from) + at[1 - kTo];
    if (step_to == 1 && step_from == 1) {
      std::copy_n(x, count, y);
    } else {
      for (std::int64_t i = 0; i < count; ++i) y[i * step_to] = x[i * step_from];
    }
  });
}

}  // namespace

StridedCopy::StridedCopy(DType dtype, const StridedLoop& loop) : loop_(loop) {
  dispatch_by_size(dtype, [&]<class T>() {
    forward_ = copy_along<T, 0>;
    backward_ = copy_along<T, 1>;
  });
}

namespace {

/// Operand 0 is the part, operand 1 the whole.
StridedLoop part_loop(const Shape& whole, std::size_t axis, std::int64_t length) {
  const std::int64_t inner = whole.elements(axis + 1, whole.rank());
  StridedLoop loop(2);
  loop.add(whole.elements(0, axis), {length * inner, whole[axis] * inner});
  loop.add(length * inner, {1, 1});
  return loop;
}

}  // namespace

TensorPart::TensorPart(const TensorDesc& whole, std::size_t axis, std::int64_t start,
                       std::int64_t length)
    : copy_(whole.dtype, part_loop(whole.shape, axis, length)),
      first_(start * whole.shape.elements(axis + 1, whole.shape.rank())) {}

}  // namespace d5::detail
