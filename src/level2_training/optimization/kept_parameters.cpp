// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/kept_parameters.hpp"

namespace d5 {

void KeptParameters::keep(Network& network) {
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
  kept_ = true;
}

void KeptParameters::give_back(Network& network) {
  if (!kept_) return;
  auto& parameters = network.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].value.copy_from(values_[i]);
  kept_ = false;
}

}  // namespace d5
