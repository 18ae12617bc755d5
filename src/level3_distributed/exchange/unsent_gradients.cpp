// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/unsent_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr const char* kStep = "step";

std::vector<GradientPart> parts_of(const std::vector<Parameter>& parameters,
                                   const GradientBucket& bucket) {
  std::vector<GradientPart> parts;
  const auto* begin = static_cast<const std::byte*>(parameters[bucket.begin].gradient.raw());
  for (std::size_t p = bucket.begin; p < bucket.end; ++p) {
    const Tensor& gradient = parameters[p].gradient;
    const auto bytes = static_cast<const std::byte*>(gradient.raw()) - begin;
    parts.push_back(
        {bytes / static_cast<std::int64_t>(size_of(gradient.dtype())), gradient.shape()});
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

UnsentGradients::UnsentGradients(std::string who, bool keeps)
    : who_(std::move(who)), keeps_(keeps), rests_(who_, "rest/") {}

void UnsentGradients::lay_out(Network& network, const std::vector<GradientBucket>& buckets) {
  parts_.resize(buckets.size());
  std::vector<std::int64_t> elements;
  for (const GradientBucket& bucket : buckets) {
    if (bucket.data.dtype() != DType::float32) {
      throw TypeError(
          fmt::format("{}: gradients are {}, expected float32 or less; exchange them with dense",
                      who_, name_of(bucket.data.dtype())));
    }
    parts_[bucket.index] = parts_of(network.parameters(), bucket);
    elements.push_back(bucket.data.elements());
  }
  if (keeps_) rests_.lay_out(elements);
}

void UnsentGradients::add_to(const GradientBucket& bucket, const ExchangeStep& step,
                             Communicator& ranks) {
  count(step);
  Tensor data = bucket.data;
  if (step.weight != 1) ranks.scale_local(data, step.weight);
  if (keeps_) ranks.reduce_local(data, rests_.at(bucket.index));
  clear_padding(data.span<float>(), parts_[bucket.index]);
}

Tensor UnsentGradients::rest(const GradientBucket& bucket) const {
  return keeps_ ? rests_.at(bucket.index) : Tensor();
}

CompressionPlace UnsentGradients::place(const GradientBucket& bucket,
                                        const ExchangeStep& step) const {
  return {bucket.index, first_step_ + step.number, parts_[bucket.index]};
}

ValueMap UnsentGradients::state() const {
  ValueMap state;
  state[kStep] = Tensor::scalar(first_step_ + steps_);
  if (keeps_) rests_.add_to(state);
  return state;
}

void UnsentGradients::restore(const ValueMap& state) {
  const auto step = state.find(kStep);
  if (step == state.end()) {
    throw NotFound(who_ + ": the checkpoint has no 'step'; it was written under another exchange");
  }
  first_step_ = step->second.tensor().item<std::int64_t>() - steps_;
  if (keeps_) rests_.restore(state, steps());
}

}  // namespace d5::detail
