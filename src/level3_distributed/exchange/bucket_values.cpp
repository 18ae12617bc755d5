// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/bucket_values.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void BucketValues::lay_out(const std::vector<std::int64_t>& elements) {
  values_.resize(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Shape shape{elements[i]};
    if (!(values_[i].defined() && values_[i].shape() == shape)) {
      values_[i] = Tensor::zeros(DType::float32, shape);
    }
  }
  adopt_restored();
}

void BucketValues::add_to(ValueMap& state) const {
  if (is_restored_) {
    for (const auto& [name, value] : restored_) state[name] = value;
    return;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    state[prefix_ + std::to_string(i)] = values_[i].copy();
  }
}

void BucketValues::restore(const ValueMap& state, std::int64_t steps) {
  is_restored_ = true;
  restored_steps_ = steps;
  restored_.clear();
  for (const auto& [name, value] : state) {
    if (name.starts_with(prefix_)) restored_[name] = value;
  }
  if (!values_.empty()) adopt_restored();
}

void BucketValues::adopt_restored() {
  if (!is_restored_) return;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (restored_steps_ == 0) {  // written before the first step: nothing was kept yet
      values_[i] = Tensor::zeros(DType::float32, values_[i].shape());
      continue;
    }
    const std::string name = prefix_ + std::to_string(i);
    const auto place = restored_.find(name);
    if (place == restored_.end()) {
      throw NotFound(
          fmt::format("{}: the checkpoint has no '{}'; it was written with other buckets "
                      "(bucket_bytes) or by an exchange that does not keep this, such as one "
                      "without error_feedback",
                      who_, name));
    }
    const Tensor& value = place->second.tensor();
    if (value.dtype() != DType::float32 || value.shape() != values_[i].shape()) {
      throw ShapeError(fmt::format("{}: '{}' of the checkpoint is {}, expected {}", who_, name,
                                   to_string(value.desc()), to_string(values_[i].desc())));
    }
    values_[i] = value.copy();
  }
  restored_.clear();
  is_restored_ = false;
}

}  // namespace d5::detail
