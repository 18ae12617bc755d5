// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/parameter_slots.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "d5/core/errors/error.hpp"

namespace d5 {

ParameterSlots::ParameterSlots(std::string name, Network& network,
                               const std::function<Shape(std::size_t parameter)>& shape_of)
    : name_(std::move(name)) {
  for (const Parameter& parameter : network.parameters()) {
    const Shape shape = shape_of ? shape_of(keys_.size()) : parameter.value.shape();
    keys_.push_back(name_ + "/" + parameter.name);
    const DType dtype = parameter.value.dtype();
    const bool is_short = dtype == DType::float16 || dtype == DType::bfloat16;
    slots_.push_back(Tensor::zeros(is_short ? DType::float32 : dtype, shape));
  }
}

void ParameterSlots::save(ValueMap& state) const {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (slots_[i].defined()) state[keys_[i]] = slots_[i];
  }
}

void ParameterSlots::forget_all_but(const std::function<bool(std::size_t parameter)>& kept) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!kept(i)) slots_[i] = {};
  }
}

void ParameterSlots::restore(const ValueMap& state) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (slots_[i].defined()) slots_[i].copy_from(state_entry(state, keys_[i], "optimizer"));
  }
}

const Tensor& state_entry(const ValueMap& state, const std::string& key, const std::string& who) {
  const auto place = state.find(key);
  if (place == state.end()) {
    constexpr std::size_t kMostNamed = 8;
    const auto names = std::views::keys(state);
    throw NotFound(fmt::format("{}: the saved state lacks '{}'; it has {}", who, printable(key),
                               state.empty() ? "nothing"
                               : state.size() <= kMostNamed
                                   ? printable(fmt::format("{}", fmt::join(names, ", ")))
                                   : fmt::format("{} others", state.size())));
  }
  return place->second.tensor();
}

}  // namespace d5
