// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/element_moving.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>

namespace d5::detail {
namespace {

/// Calls `f` with a type that moves like `dtype`: an integer of its size, or std::string.
template <class F>
void dispatch_by_size(DType dtype, F&& f) {
  if (dtype == DType::string) return f.template operator()<std::string>();
  switch (size_of(dtype)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 8:
      return f.template operator()<std::uint64_t>();
    case 16:
      return f.template operator()<std::complex<double>>();
    default:
      throw_type_not_supported("moving elements", dtype);
  }
}

}  // namespace

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

void copy_strided(DType dtype, const StridedLoop& loop, void* to, const void* from) {
  const std::int64_t step_to = loop.step(0), step_from = loop.step(1);
  dispatch_by_size(dtype, [&]<class T>() {
    loop.run([=](const StridedLoop::Offsets& at, std::int64_t count) {
      T* y = static_cast<T*>(to) + at[0];
      const T* x = static_cast<const T*>(from) + at[1];
      if (step_to == 1 && step_from == 1) {
        std::copy_n(x, count, y);
      } else {
        for (std::int64_t i = 0; i < count; ++i) y[i * step_to] = x[i * step_from];
      }
    });
  });
}

void add_strided(DType dtype, const StridedLoop& loop, void* to, const void* from) {
  const std::int64_t step_to = loop.step(0), step_from = loop.step(1);
  dispatch(RealTypes{}, dtype, "adding gradients", [&]<class T>() {
    loop.run_in_order([=](const StridedLoop::Offsets& at, std::int64_t count) {
      T* y = static_cast<T*>(to) + at[0];
      const T* x = static_cast<const T*>(from) + at[1];
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
