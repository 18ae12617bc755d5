// SPDX-License-Identifier: Apache-2.0
#include "gradient_memory.hpp"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace d5::torch {

/// Called by torch when a parameter's gradient is complete.
struct GradientMemory::LeafHook final : ::torch::autograd::PostAccumulateGradHook {
  LeafHook(GradientMemory& memory, std::size_t index) : memory(memory), index(index) {}
  void operator()(const at::Tensor&) override { memory.settle(index); }
  GradientMemory& memory;
  std::size_t index;
};

/// Called by torch before the node that computes some parameters' gradients.
struct GradientMemory::NodeHook final : ::torch::autograd::FunctionPreHook {
  NodeHook(GradientMemory& memory, std::span<const std::size_t> parameters)
      : memory(memory), parameters(parameters) {}
  ::torch::autograd::variable_list operator()(
      const ::torch::autograd::variable_list& gradients) override {
    memory.offer(parameters);
    return gradients;
  }
  GradientMemory& memory;
  std::span<const std::size_t> parameters;
};

void GradientMemory::add(const at::Tensor& leaf, at::Tensor place) {
  ::torch::autograd::impl::set_post_acc_grad_hooks(
      leaf, std::make_unique<LeafHook>(*this, places_.size()));
  places_.push_back({leaf, std::move(place)});
}

void GradientMemory::clear() { places_.clear(); }

void GradientMemory::expect(const at::Tensor& result, std::span<const std::size_t> parameters) {
  if (parameters.empty() || !result.defined() || !result.grad_fn()) return;
  result.grad_fn()->add_pre_hook(std::make_unique<NodeHook>(*this, parameters));
}

void GradientMemory::backward(const std::vector<at::Tensor>& roots,
                              const std::vector<at::Tensor>& slopes) {
  waiting_.clear();
  announced_ = 0;
  for (Place& place : places_) place.is_final = false;
  try {
    if (!roots.empty()) ::torch::autograd::backward(roots, slopes);
  } catch (...) {
    offers_.reset();
    throw;
  }
  offers_.reset();
}

void GradientMemory::offer(std::span<const std::size_t> parameters) {
  offers_.reset();
  offers_.emplace();
  for (const std::size_t i :
       parameters.first(std::min<std::size_t>(parameters.size(), ResultMemory::kMost))) {
    // A block that several nodes use has been offered before, and may be in use.
    const at::Tensor& place = places_[i].gradient;
    if (!ResultMemory::is_lent(place.data_ptr())) offers_->offer(place);
  }
}

void GradientMemory::settle(std::size_t index) {
  settle_waiting();
  Place& place = places_[index];
  at::Tensor gradient = std::exchange(place.leaf.mutable_grad(), {});
  if (gradient.data_ptr() == place.gradient.data_ptr() && gradient.is_contiguous()) {
    // It was allocated in place.
  } else if (ResultMemory::is_lent(place.gradient.data_ptr())) {
    waiting_.push_back({index, moved_out(std::move(gradient))});
    return;
  } else {
    place.gradient.copy_(gradient);
  }
  arrived(index);
}

void GradientMemory::arrived(std::size_t index) {
  places_[index].is_final = true;
  for (; announced_ < places_.size() && places_[announced_].is_final; ++announced_) {
    ready_(announced_);
  }
}

void GradientMemory::settle_waiting() {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    at::Tensor& place = places_[waiting.index].gradient;
    if (ResultMemory::is_lent(place.data_ptr())) return false;
    place.copy_(waiting.gradient);
    arrived(waiting.index);
    return true;
  });
}

void GradientMemory::finish() {
  settle_waiting();
  if (!waiting_.empty()) throw std::logic_error("torch keeps memory of d5's gradient arena");
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].is_final) continue;
    places_[i].gradient.zero_();  // the loss does not depend on it
    arrived(i);
  }
}

at::Tensor GradientMemory::moved_out(at::Tensor tensor) const {
  const void* data = tensor.storage().data();
  const bool inside = std::ranges::any_of(
      places_, [&](const Place& place) { return place.gradient.data_ptr() == data; });
  return inside ? tensor.clone() : tensor;
}

}  // namespace d5::torch
