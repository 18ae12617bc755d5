// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// State of an optimizer: one tensor per parameter, zero at first. It has the parameter's shape, or
/// another one by `shape_of`, and is float32 for a 16-bit parameter.
///
///     ParameterSlots moments_("moment", executor().network());
///     Tensor& moment = moments_[index];
class ParameterSlots {
 public:
  /// `name` is the slot's name in saved states: "moment".
  ParameterSlots(std::string name, Network& network,
                 const std::function<Shape(std::size_t parameter)>& shape_of = {});

  [[nodiscard]] Tensor& operator[](std::size_t index) { return slots_[index]; }
  /// Frees the tensors for which `kept` returns false. They become undefined, and are not saved.
  void forget_all_but(const std::function<bool(std::size_t parameter)>& kept);
  /// Adds "NAME/PARAMETER" for every parameter; the tensors are shared, not copied.
  void save(ValueMap& state) const;
  /// Throws: NotFound for a parameter missing in `state`; ShapeError; TypeError.
  void restore(const ValueMap& state);

 private:
  std::string name_;
  std::vector<std::string> keys_;
  std::vector<Tensor> slots_;
};

/// Value of `key` in the saved state of an optimizer or a metric. Throws: NotFound, in the name of
/// `who`.
[[nodiscard]] const Tensor& state_entry(const ValueMap& state, const std::string& key,
                                        const std::string& who);

}  // namespace d5
