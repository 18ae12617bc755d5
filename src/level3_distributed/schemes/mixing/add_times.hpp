// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// into += factor * of, element by element, in float32 or float64.
inline void add_times(Tensor& into, double factor, const Tensor& of) {
  dispatch(RealTypes{}, into.dtype(), "mixing of parameters", [&]<class T>() {
    T* sum = into.data<T>();
    const T* values = of.data<T>();
    const T times = T(factor);
    for (std::int64_t i = 0; i < into.elements(); ++i) sum[i] += times * values[i];
  });
}

/// into = a - b.
inline void subtract(const Tensor& a, const Tensor& b, Tensor& into) {
  into.copy_from(a);
  add_times(into, -1, b);
}

}  // namespace d5::detail
