// SPDX-License-Identifier: Apache-2.0
#include "level2_training/parameter_copies.hpp"

#include "level2_training/on_host.hpp"
#include "level2_training/sweep.hpp"

namespace d5::detail {

void ParameterCopies::keep(Network& network) {
  const auto& parameters = network.parameters();
  values_.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& value = parameters[i].value;
    if (values_[i].desc() == value.desc()) {
      values_[i].copy_from(value);
    } else {
      values_[i] = value.copy();
    }
  }
}

void ParameterCopies::put_back(Network& network) const {
  auto& parameters = network.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].value.copy_from(values_[i]);
}

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
