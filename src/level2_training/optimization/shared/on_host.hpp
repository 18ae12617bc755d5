// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "d5/core/tensor/tensor.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5::detail {

/// Type of computation with elements of type T.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Calls `change(std::span<T>)` with a real tensor's elements; a tensor on a device is copied to
/// the host and back.
template <class Change>
void change_on_host(Tensor& tensor, const Change& change) {
  Tensor here = tensor.on_host();
  dispatch(FloatTypes{}, here.dtype(), "a change of gradients",
           [&]<class T>() { change(here.span<T>()); });
  if (!(tensor.device() == Device{})) tensor.copy_from(here);
}

/// Multiplies each element.
inline void scale(Tensor& tensor, double factor) {
  change_on_host(tensor, [factor]<class T>(std::span<T> values) {
    sweep(std::int64_t(values.size()), [&](std::int64_t begin, std::int64_t end) {
      T* of = values.data();
      for (std::int64_t i = begin; i < end; ++i) of[i] = T(Wide<T>(of[i]) * Wide<T>(factor));
    });
  });
}

}  // namespace d5::detail
