// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "result_memory.hpp"

namespace d5::torch {

/// Places the gradients that autograd computes in d5's gradient arena, mostly without a copy.
///
/// Autograd allocates a gradient while the producing node runs backward. From then on the
/// gradient's place in the arena is offered (`ResultMemory`). Autograd may allocate it elsewhere
/// without notice; such gradients are copied.
///
///     memory.add(leaf, place);                 // once a parameter
///     memory.expect(result, {0, 1});           // forward: `result` was made from these parameters
///     memory.backward({loss}, {{}});           // most gradients arrive
///     memory.finish();                         // all have
///
/// Thread safety: none; backward runs on the thread that calls it, as it does on a CPU.
class GradientMemory {
 public:
  /// `ready(i)` is called once per parameter and run, in the order of `add` whatever torch's order,
  /// as soon as gradient i and those before it are in place.
  explicit GradientMemory(std::function<void(std::size_t)> ready) : ready_(std::move(ready)) {}
  GradientMemory(const GradientMemory&) = delete;
  GradientMemory& operator=(const GradientMemory&) = delete;

  /// `leaf` requires a gradient; `place` is dense and of the same shape and type.
  void add(const at::Tensor& leaf, at::Tensor place);
  void clear();

  /// Declares that `result` was computed directly from these parameters, given by index.
  void expect(const at::Tensor& result, std::span<const std::size_t> parameters);
  /// Starts from gradients `slopes` of `roots`; an undefined gradient of a scalar is one.
  void backward(const std::vector<at::Tensor>& roots, const std::vector<at::Tensor>& slopes);
  /// Copies the remaining gradients, once torch has released the arena; zero for parameters that
  /// the loss does not depend on.
  void finish();
  /// A copy of a tensor that may lie in the arena.
  [[nodiscard]] at::Tensor moved_out(at::Tensor tensor) const;

 private:
  struct Place {
    at::Tensor leaf, gradient;
    bool is_final = false;
  };
  /// A gradient whose place is still occupied by another torch tensor.
  struct Waiting {
    std::size_t index;
    at::Tensor gradient;
  };
  struct LeafHook;
  struct NodeHook;

  void offer(std::span<const std::size_t> parameters);
  void settle(std::size_t index);
  void settle_waiting();
  void arrived(std::size_t index);

  std::function<void(std::size_t)> ready_;
  std::vector<Place> places_;
  std::size_t announced_ = 0;  ///< gradients before it are final and announced
  std::vector<Waiting> waiting_;
  std::optional<ResultMemory> offers_;
};

}  // namespace d5::torch
