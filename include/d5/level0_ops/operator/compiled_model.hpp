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

/// Options for compiling a model.
struct ModelTarget {
  int threads = 1;
  /// Adds the framework's profile of nodes to the trace at each run.
  bool profiled = false;
  /// A scalar output, or empty. Its gradients with respect to the tensors `gradients` become
  /// additional outputs after the graph's.
  std::string loss = {};
  std::vector<std::string> gradients = {};
  /// The graph's inputs as declared, before open sizes were fixed: for frameworks that compile for
  /// any size.
  std::vector<onnx::ValueInfo> declared = {};
};

/// A model compiled as a whole by a framework.
///
/// Thread safety: none.
class CompiledModel {
 public:
  virtual ~CompiledModel() = default;

  /// Runs the model. `inputs` and `outputs` are in the graph's order. A tensor output is memory of
  /// the right type and shape to write to; any other output is replaced by the result, which stays
  /// valid as long as it is held. Throws: the framework's error.
  virtual void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) = 0;

  /// Whether `run` may be given the same memory as the cache of a TensorScatter or of
  /// com.microsoft's GroupQueryAttention, which nothing else reads, and as its output. It then
  /// writes the new slices alone.
  [[nodiscard]] virtual bool scatters_in_place() const { return false; }
};

/// Compiles a model with fixed input sizes. Tensors other than inputs are constant and may be
/// copied. Throws: Unsupported with the framework's reason.
using ModelCompiler =
    std::function<std::unique_ptr<CompiledModel>(const onnx::Model& model, const ModelTarget&)>;

/// `model` with the open input sizes that `target` declares: for frameworks that reject fixed sizes
/// in a branch which is never taken.
[[nodiscard]] onnx::Model with_open_sizes(const onnx::Model& model, const ModelTarget& target);

/// Compiles `model`, or if that throws, the model with open sizes. Throws: the error of the first
/// attempt.
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
