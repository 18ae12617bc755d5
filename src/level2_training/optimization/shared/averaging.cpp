// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/averaging.hpp"

#include "level2_training/optimization/shared/on_host.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5::detail {

void move_towards(Tensor& from, const Tensor& to, double share) {
  const Tensor here = to.on_host();
  dispatch(FloatTypes{}, here.dtype(), "an average of parameters", [&]<class T>() {
    using W = Wide<T>;
    const T* values = here.data<T>();
    W* result = from.data<W>();
    sweep(from.elements(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) result[i] += W(share) * (W(values[i]) - result[i]);
    });
  });
}

void put(const Tensor& from, Tensor& to) {
  if (from.dtype() == to.dtype()) return to.copy_from(from);
  Tensor rounded = Tensor::empty(to.dtype(), to.shape());
  dispatch(FloatTypes{}, to.dtype(), "an average of parameters", [&]<class T>() {
    const Wide<T>* values = from.data<Wide<T>>();
    T* result = rounded.data<T>();
    for (std::int64_t i = 0; i < from.elements(); ++i) result[i] = T(values[i]);
  });
  to.copy_from(rounded);
}

}  // namespace d5::detail
