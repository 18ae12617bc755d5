// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// The Open Inference Protocol's name of an element type: "FP32" for float32, "BYTES" for string.
/// Source: Open Inference Protocol (KServe v2), "Tensor Data Types". Throws: TypeError for a type
/// without a name in the protocol.
[[nodiscard]] std::string_view inference_type_of(DType dtype);
/// The inverse. Throws: NotFound, with the nearest name.
[[nodiscard]] DType inference_dtype(std::string_view name);

struct InferenceTensor {
  std::string name;
  Tensor tensor;  ///< on the host, row-major
};

/// A request to a model, from JSON, binary data or a gRPC message.
struct InferenceRequest {
  std::string model;
  std::string version = {};  ///< empty: any
  std::string id = {};       ///< chosen by the client, returned unchanged
  std::vector<InferenceTensor> inputs = {};
  std::vector<std::string> outputs = {};  ///< requested outputs; empty: all
  /// Outputs to return as their best classes, each with their number: "VALUE:INDEX" of type BYTES.
  std::map<std::string, std::int64_t> classes = {};
};

struct InferenceResponse {
  std::string model, version, id;
  std::vector<InferenceTensor> outputs;
};

/// An input or output of a model in a server's description.
struct InferenceTensorInfo {
  std::string name;
  std::string type;                 ///< "FP32"
  std::vector<std::int64_t> shape;  ///< -1: any
  bool operator==(const InferenceTensorInfo&) const = default;
};

struct InferenceModelInfo {
  std::string name;
  std::vector<std::string> versions;
  std::string platform;  ///< "d5_torch", "onnxruntime_onnx"
  std::vector<InferenceTensorInfo> inputs, outputs;
  bool operator==(const InferenceModelInfo&) const = default;
};

/// How a server runs a model. The shapes in `info` are without the sample's dimension, unless
/// `largest_batch` is 0.
struct InferenceModelConfig {
  InferenceModelInfo info;
  std::string backend;             ///< "torch"
  std::int64_t largest_batch = 0;  ///< samples in an execution; 0: the shapes have a fixed batch
  int instances = 1;
  double longest_wait = 0;  ///< longest wait for others to fill a batch, in s
};

/// A model in a server's list.
struct InferenceModelState {
  std::string name, version;  ///< empty version: not open
  bool is_ready = false;
  std::string reason = {};  ///< why it is not ready
};

/// "READY", "UNAVAILABLE"
[[nodiscard]] std::string_view state_word(const InferenceModelState& state);

struct InferenceServerInfo {
  std::string name, version;
  std::vector<std::string> extensions;
  bool operator==(const InferenceServerInfo&) const = default;
};

}  // namespace d5
