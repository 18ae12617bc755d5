// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// One tensor like each parameter of a network, zero at first: what an optimizer remembers. That of
/// a parameter of 16 bits is in float32. It may have another shape.
///
///     ParameterSlots moments_("moment", executor().network());
///     Tensor& moment = moments_[index];
class ParameterSlots {
 public:
  /// `name` is the slot's word in saved states: "moment".
  ParameterSlots(std::string name, Network& network,
                 const std::function<Shape(std::size_t parameter)>& shape_of = {});

  [[nodiscard]] Tensor& operator[](std::size_t index) { return slots_[index]; }
  /// Gives up those of which `kept` says no: they are undefined from then on, and in no saved
  /// state.
  void forget_all_but(const std::function<bool(std::size_t parameter)>& kept);
  /// Adds "NAME/PARAMETER" for every parameter; the tensors are shared, not copied.
  void save(ValueMap& state) const;
  /// Throws: NotFound for a parameter that `state` leaves out, ShapeError, TypeError.
  void restore(const ValueMap& state);

 private:
  std::string name_;
  std::vector<std::string> keys_;
  std::vector<Tensor> slots_;
};

/// The value of `key` in an optimizer's or a metric's saved state. Throws: NotFound, in the name of
/// `who`.
[[nodiscard]] const Tensor& state_entry(const ValueMap& state, const std::string& key,
                                        const std::string& who);

}  // namespace d5
