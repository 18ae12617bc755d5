// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/joined_outputs.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"

namespace d5::detail {

void JoinedOutputs::begin(std::int64_t samples) { samples_ = samples; }

Tensor& JoinedOutputs::room_for(const std::string& name, const TensorDesc& desc) {
  Value& value = all_[name];
  if (!value.is_tensor() || !(value.tensor().desc() == desc)) value = Tensor::zeros(desc);
  return value.tensor();
}

void JoinedOutputs::add(const ValueMap& outputs, std::int64_t first, std::int64_t count) {
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
          "over samples, so that those of several pieces cannot be joined; make it no output",
          printable(name), count, to_string(value.desc())));
    }
    Tensor& mean = room_for(name, {desc->dtype, desc->shape});
    const Tensor here = value.tensor().on_host();
    dispatch(RealTypes{}, desc->dtype, "mean of an output", [&]<class T>() {
      const T before = first == 0 ? T(0) : mean.item<T>();
      *mean.data<T>() = T(before + here.item<T>() * (double(count) / double(samples_)));
    });
  }
}

}  // namespace d5::detail
