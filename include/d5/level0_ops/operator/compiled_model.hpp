// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// What a model is compiled for, besides what its graph declares.
struct ModelTarget {
  int threads = 1;
  /// Its runs put on the trace what the framework tells of its nodes.
  bool profiled = false;
  /// A scalar output. The gradients of it by the tensors `gradients` are further outputs, behind
  /// the graph's. Empty: none.
  std::string loss = {};
  std::vector<std::string> gradients = {};
  /// The graph's inputs as the network declares them, before they were given sizes: what a
  /// framework that compiles for any size leaves open.
  std::vector<onnx::ValueInfo> declared = {};
};

/// A model that a framework compiled as a whole.
///
/// Thread safety: none.
class CompiledModel {
 public:
  virtual ~CompiledModel() = default;

  /// Runs all of it. `inputs` and `outputs` hold one value each, in the graph's order. An output
  /// that is a tensor is memory of the right type and shape to write into; any other is replaced
  /// by the result, which stays valid as long as it is held. Throws: what the framework failed
  /// with.
  virtual void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) = 0;
};

/// How a framework compiles a model whose inputs have fixed sizes; what is not an input is constant
/// and may be copied. Throws: Unsupported with the framework's reason.
using ModelCompiler =
    std::function<std::unique_ptr<CompiledModel>(const onnx::Model& model, const ModelTarget&)>;

/// `model` with inputs as `target` declares them, where it does: for a framework that complains of
/// sizes in a branch that they do not enter.
[[nodiscard]] onnx::Model with_open_sizes(const onnx::Model& model, const ModelTarget& target);

/// What `compile` makes of `model`, or where that throws of the one with open sizes. Throws: what
/// the first throws, which is the reason to tell.
template <class Compile>
[[nodiscard]] auto for_its_sizes_or_any(const onnx::Model& model, const ModelTarget& target,
                                        const Compile& compile) {
  try {
    return compile(model);
  } catch (const std::exception&) {
    try {
      if (!target.declared.empty()) return compile(with_open_sizes(model, target));
    } catch (const std::exception&) {
    }
    throw;
  }
}

}  // namespace d5
