// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/element_moving.hpp"

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

void fill_elements(DType dtype, void* to, const void* value, std::int64_t count) {
  dispatch_by_size(dtype, [&]<class T>() {
    std::fill_n(static_cast<T*>(to), count, *static_cast<const T*>(value));
  });
}

void zero_elements(Tensor& to) {
  if (to.dtype() == DType::string) {
    std::fill_n(to.data<std::string>(), to.elements(), std::string());
  } else if (to.bytes() > 0) {
    std::memset(to.raw(), 0, to.bytes());
  }
}

namespace {

void copy_between(DType dtype, const StridedLoop& loop, std::size_t to_operand, void* to,
                  const void* from) {
  const std::size_t from_operand = 1 - to_operand;
  const std::int64_t step_to = loop.step(to_operand), step_from = loop.step(from_operand);
  dispatch_by_size(dtype, [&]<class T>() {
    loop.run([=](const StridedLoop::Offsets& at, std::int64_t count) {
      T* y = static_cast<T*>(to) + at[to_operand];
      const T* x = static_cast<const T*>(from) + at[from_operand];
      if (step_to == 1 && step_from == 1) {
        std::copy_n(x, count, y);
      } else {
        for (std::int64_t i = 0; i < count; ++i) y[i * step_to] = x[i * step_from];
      }
    });
  });
}

}  // namespace

void copy_strided(DType dtype, const StridedLoop& loop, void* to, const void* from) {
  copy_between(dtype, loop, 0, to, from);
}

void copy_strided_back(DType dtype, const StridedLoop& loop, const void* from, void* to) {
  copy_between(dtype, loop, 1, to, from);
}

void add_strided_back(DType dtype, const StridedLoop& loop, const void* from, void* to) {
  const std::int64_t step_from = loop.step(0), step_to = loop.step(1);
  dispatch(RealTypes{}, dtype, "adding gradients", [&]<class T>() {
    loop.run_in_order([=](const StridedLoop::Offsets& at, std::int64_t count) {
      const T* x = static_cast<const T*>(from) + at[0];
      T* y = static_cast<T*>(to) + at[1];
      if (step_to == 0) {
        double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += x[i * step_from];
        *y += T(sum);
      } else {
        for (std::int64_t i = 0; i < count; ++i) y[i * step_to] += x[i * step_from];
      }
    });
  });
}

}  // namespace d5::detail
