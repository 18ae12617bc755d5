// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/joined_outputs.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void JoinedOutputs::begin(std::int64_t samples) { samples_ = samples; }

Tensor& JoinedOutputs::room_for(const std::string& name, const TensorDesc& desc) {
  Value& value = all_[name];
  if (!value.is_tensor() || !(value.tensor().desc() == desc)) value = Tensor::zeros(desc);
  return value.tensor();
}

void JoinedOutputs::add_number(const std::string& name, const Tensor& here, const ValueMap& fields,
                               std::int64_t first, std::int64_t count) {
  auto place = numbers_.find(name);
  if (place == numbers_.end()) {
    place = numbers_.emplace(name, Number{.weight = LossWeight(network_, name)}).first;
  }
  Number& number = place->second;
  if (first == 0) number.sum = number.weights = 0;
  const double weight = number.weight.of(fields, count);
  number.weights += weight;
  Tensor& joined = room_for(name, here.desc());
  dispatch(RealTypes{}, here.dtype(), "a number of several pieces", [&]<class T>() {
    const auto mine = here.item<T>();
    T* all = joined.data<T>();
    switch (number.weight.kind()) {
      case LossWeight::Kind::samples:
        *all = T((first == 0 ? T(0) : *all) + mine * (double(count) / double(samples_)));
        return;
      case LossWeight::Kind::sum:
        number.sum += double(mine);
        *all = T(number.sum);
        return;
      case LossWeight::Kind::counted:  // a piece in which nothing counts may be 0 / 0
        number.sum += weight != 0 ? weight * double(mine) : 0;
        *all = number.weights != 0 ? T(number.sum / number.weights) : mine;
    }
  });
}

void JoinedOutputs::add(const ValueMap& outputs, const ValueMap& fields, std::int64_t first,
                        std::int64_t count) {
  for (const auto& [name, value] : outputs) {
    const TensorDesc* desc = value.is_tensor() ? &value.tensor().desc() : nullptr;
    if (desc && desc->shape.rank() > 0 && desc->shape[0] == count) {
      Shape whole = desc->shape;
      whole[0] = samples_;
      room_for(name, {desc->dtype, whole}).slice(first, first + count).copy_from(value.tensor());
      continue;
    }
    const bool is_real = desc && (desc->dtype == DType::float32 || desc->dtype == DType::float64);
    if (!is_real || desc->elements() != 1) {
      throw Unsupported(fmt::format(
          "accumulate: output '{}' of {} samples is {}: neither a sample in dimension 0 nor a mean "
          "over samples, so those of several micro-batches cannot be joined; remove this output",
          printable(name), count, to_string(value.desc())));
    }
    add_number(name, value.tensor().on_host(), fields, first, count);
  }
}

}  // namespace d5::detail
