// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/settings.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// `d5.Update`: a step of an optimizer's rule on parameters that share options, in the style of
/// ONNX's training operators. Attributes: `optimizer`, its name; its options, each under its name;
/// `hyper_parameters`, the names of those that are inputs; `masters`, 1 if the rule keeps float32
/// masters of 16-bit parameters.
///
/// Inputs: the step number from 1, int64; each hyper-parameter; each number of the rule's state; n
/// parameters; n gradients; n tensors of each slot; n masters, omitted for parameters of other
/// types. Outputs: the numbers, parameters, slots and masters after the step.
///
/// Shapes: numbers have one element; a gradient has its parameter's shape, a slot the shape that
/// the rule defines.
inline constexpr const char *kUpdate = "Update", *kUpdateDomain = "d5";
[[nodiscard]] bool is_update(const onnx::Node& node);

/// Content of such a node: its attributes, and what follows from its number of inputs.
struct UpdateWords {
  std::string optimizer;
  Settings settings;
  std::vector<std::string> hyper_parameters;
  bool masters = false;
};
/// Throws: NotFound without an optimizer; TypeError for an attribute that is not an option.
[[nodiscard]] UpdateWords words_of(const onnx::Node& node);
/// Sets the attributes of a node accordingly.
void write_words(const UpdateWords& words, onnx::Node& node);

/// Indices of an update's inputs and outputs.
struct UpdatePlaces {
  std::size_t hyper_parameters, numbers, slots, parameters;
  bool masters;

  [[nodiscard]] std::size_t hyper_parameter(std::size_t i) const { return 1 + i; }
  [[nodiscard]] std::size_t number(std::size_t i) const { return 1 + hyper_parameters + i; }
  [[nodiscard]] std::size_t parameter(std::size_t p) const { return number(numbers) + p; }
  [[nodiscard]] std::size_t gradient(std::size_t p) const { return parameter(parameters) + p; }
  [[nodiscard]] std::size_t slot(std::size_t s, std::size_t p) const {
    return gradient(parameters) + s * parameters + p;
  }
  [[nodiscard]] std::size_t master(std::size_t p) const { return slot(slots, p); }
  [[nodiscard]] std::size_t inputs() const { return slot(slots + (masters ? 1 : 0), 0); }

  [[nodiscard]] std::size_t new_parameter(std::size_t p) const { return numbers + p; }
  [[nodiscard]] std::size_t new_slot(std::size_t s, std::size_t p) const {
    return numbers + (1 + s) * parameters + p;
  }
  [[nodiscard]] std::size_t new_master(std::size_t p) const { return new_slot(slots, p); }
  [[nodiscard]] std::size_t outputs() const { return new_slot(slots + (masters ? 1 : 0), 0); }
};

}  // namespace d5::detail
