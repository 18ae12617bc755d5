// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/unsent_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

constexpr const char *kStep = "step", *kRest = "rest/";

std::vector<GradientPart> parts_of(const std::vector<Parameter>& parameters,
                                   const GradientBucket& bucket) {
  std::vector<GradientPart> parts;
  const auto* begin = bucket.data.data<float>();
  for (std::size_t p = bucket.begin; p < bucket.end; ++p) {
    const Tensor& gradient = parameters[p].gradient;
    parts.push_back({gradient.data<float>() - begin, gradient.shape()});
  }
  return parts;
}

void clear_padding(std::span<float> data, const std::vector<GradientPart>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto end = static_cast<std::size_t>(parts[i].offset + parts[i].shape.elements());
    const std::size_t next =
        i + 1 < parts.size() ? static_cast<std::size_t>(parts[i + 1].offset) : data.size();
    std::ranges::fill(data.subspan(end, next - end), 0.0f);
  }
}

}  // namespace

void UnsentGradients::lay_out(Network& network, const std::vector<GradientBucket>& buckets) {
  parts_.resize(buckets.size());
  rests_.resize(buckets.size());
  for (const GradientBucket& bucket : buckets) {
    if (bucket.data.dtype() != DType::float32) {
      throw TypeError(
          fmt::format("{}: gradients are {}, expected float32; exchange them with dense", who_,
                      name_of(bucket.data.dtype())));
    }
    parts_[bucket.index] = parts_of(network.parameters(), bucket);
    Tensor& rest = rests_[bucket.index];
    if (keeps_ && !(rest.defined() && rest.shape() == bucket.data.shape())) {
      rest = Tensor::zeros(DType::float32, bucket.data.shape());
    }
  }
  adopt_restored();
}

void UnsentGradients::add_to(const GradientBucket& bucket, const ExchangeStep& step,
                             Communicator& ranks) {
  steps_ = step.number + 1;
  Tensor data = bucket.data;
  if (step.weight != 1) ranks.scale_local(data, step.weight);
  if (keeps_) ranks.reduce_local(data, rests_[bucket.index]);
  clear_padding(data.span<float>(), parts_[bucket.index]);
}

Tensor UnsentGradients::rest(const GradientBucket& bucket) const { return rests_[bucket.index]; }

CompressionPlace UnsentGradients::place(const GradientBucket& bucket,
                                        const ExchangeStep& step) const {
  return {bucket.index, first_step_ + step.number, parts_[bucket.index]};
}

ValueMap UnsentGradients::state() const {
  ValueMap state = restored_;
  state[kStep] = Tensor::scalar(first_step_ + steps_);
  for (std::size_t i = 0; i < rests_.size() && keeps_; ++i) {
    if (restored_.empty()) state[kRest + std::to_string(i)] = rests_[i].copy();
  }
  return state;
}

void UnsentGradients::restore(const ValueMap& state) {
  const auto step = state.find(kStep);
  if (step == state.end()) {
    throw NotFound(who_ + ": the checkpoint has no 'step'; it was written under another exchange");
  }
  first_step_ = step->second.tensor().item<std::int64_t>() - steps_;
  is_restored_ = true;
  restored_.clear();
  for (const auto& [name, value] : state) {
    if (keeps_ && name.starts_with(kRest)) restored_[name] = value;
  }
  if (!parts_.empty()) adopt_restored();
}

void UnsentGradients::adopt_restored() {
  if (!keeps_ || !is_restored_) return;
  for (std::size_t i = 0; i < rests_.size(); ++i) {
    if (first_step_ + steps_ == 0) {  // written before the first step: nothing was kept yet
      rests_[i] = Tensor::zeros(DType::float32, rests_[i].shape());
      continue;
    }
    const std::string name = kRest + std::to_string(i);
    const auto place = restored_.find(name);
    if (place == restored_.end()) {
      throw NotFound(fmt::format(
          "{}: the checkpoint has no '{}'; it was written with other buckets (bucket_bytes) or "
          "without error_feedback",
          who_, name));
    }
    const Tensor& value = place->second.tensor();
    if (value.dtype() != DType::float32 || value.shape() != rests_[i].shape()) {
      throw ShapeError(fmt::format("{}: '{}' of the checkpoint is {}, the bucket is {}", who_, name,
                                   to_string(value.desc()), to_string(rests_[i].desc())));
    }
    rests_[i] = value.copy();
  }
  restored_.clear();
  is_restored_ = false;
}

}  // namespace d5::detail
