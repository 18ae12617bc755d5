// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "level1_network/compiler.hpp"

namespace d5 {

/// The backward half of a plan: which steps have a part in the loss's gradient, in which memory
/// gradients are, where several readers' contributions are added up, when each one is final.
class BackwardCompiler {
 public:
  explicit BackwardCompiler(Compiler& compiler) : c_(compiler) {}
  /// Extends lifetimes and requests memory. Throws: Unsupported, NotFound.
  void plan();
  /// Once memory is laid out: makes the steps.
  void link();

 private:
  using Slot = Compiler::Slot;
  /// Room for the gradient of `slot` in a step: its own, or a term that is added to it.
  struct Place {
    Slot* slot;
    Tensor* tensor;
    std::size_t block;
    bool term;  ///< another reader has written the gradient before
  };
  struct Step {
    Compiler::Step* forward;
    std::vector<Place> places;  ///< one an input; null slot: none wanted
  };

  void mark_wanted();
  void mark_reached();
  void reach(Compiler::Step& step);
  void plan_step(Step& step, std::size_t now);
  Place place_for(Slot& slot, std::size_t now);
  void bind(const Place& place, std::vector<std::pair<Tensor*, const Value*>>& to_allocate);
  void link_step(const Step& step);
  void link_parameters();

  Compiler& c_;
  Slot* loss_ = nullptr;
  std::vector<Step> steps_;
};

}  // namespace d5
