// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <variant>
#include <vector>

#include "d5/onnx/model.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {

/// A function's arguments from a node: tensors by the order of its inputs, all others by the names
/// of its attributes, or torch's defaults.
class BoundArguments {
 public:
  /// Throws: ValueError for an argument that is missing or of another type, and for an input or
  /// attribute that the function does not have.
  BoundArguments(const c10::FunctionSchema& function, const onnx::Node& node);

  [[nodiscard]] ::torch::jit::Stack stack(Inputs inputs) const;

 private:
  struct OneInput {
    std::size_t index;
  };
  struct AllInputs {
    std::size_t from;
  };
  std::vector<std::variant<OneInput, AllInputs, c10::IValue>> arguments_;
};

}  // namespace d5::torch
