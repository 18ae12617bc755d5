// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/infer_request.hpp>
#include <optional>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/level0_ops/operator/compiled_model.hpp"

namespace d5::openvino {

enum class Precision { float32, bfloat16, float16 };
enum class Hint { latency, throughput };
/// Shapes of inputs: as they are fed, or open if the network leaves them open.
enum class Shapes { given, free };
/// Nodes are many and run in turn: equal ones share a compiled model.
enum class Part { network, node };

/// Options of compiling and running in OpenVINO.
struct InferenceChoice {
  Precision precision = Precision::float32;
  Hint hint = Hint::latency;
  std::int64_t streams = 1;
  std::int64_t threads = 0;
  Shapes shapes = Shapes::given;
  Part part = Part::network;  ///< no option of an executor
  void declare(OptionList& options);
};

/// A model compiled by OpenVINO for the CPU, with one request. Inputs, and outputs of known shapes,
/// use d5's memory.
class InferenceModel final : public CompiledModel {
 public:
  /// Throws: Unsupported with OpenVINO's reason.
  InferenceModel(const onnx::Model& model, const ModelTarget& target,
                 const InferenceChoice& choice);

  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override;

 private:
  /// An input or output of the model, and the memory set for it in the request.
  struct Port {
    std::optional<std::size_t> index;  ///< OpenVINO's; none: Resize's roi, which it does not read
    const void* data = nullptr;
  };
  /// Throws: Unsupported if OpenVINO has no port of this name, or one of another shape.
  static Port port_of(const std::vector<ov::Output<const ov::Node>>& ports, std::size_t place,
                      const onnx::ValueInfo& value);

  bool profiled_;
  std::shared_ptr<ov::CompiledModel> compiled_;
  ov::InferRequest request_;
  std::vector<Port> inputs_, outputs_;
};

}  // namespace d5::openvino
