// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mean_model.hpp"

#include "d5/core/tensor/dtype.hpp"

namespace d5::detail {

std::vector<Tensor> MeanModel::values() const {
  std::vector<Tensor> all;
  for (Parameter& parameter : network_.parameters()) all.push_back(parameter.value);
  for (const auto& [constant, output] : network_.updates()) {
    const Tensor& running = network_.fetch(constant);
    if (is_floating_point(running.dtype())) all.push_back(running);
  }
  return all;
}

void MeanModel::lend() {
  if (kept_ || !own_.empty()) return;
  for (Tensor& value : values()) {
    own_.push_back(value.copy());
    ranks_.all_reduce(value);
    ranks_.scale_local(value, 1.0 / ranks_.size());
  }
  network_.values_changed();
}

void MeanModel::take_back() {
  if (own_.empty()) return;
  auto all = values();
  for (std::size_t i = 0; i < all.size(); ++i) all[i].copy_from(own_[i]);
  own_.clear();
  network_.values_changed();
}

void MeanModel::keep() {
  lend();
  own_.clear();
  kept_ = true;
}

}  // namespace d5::detail
