// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// What the Open Inference Protocol calls an element type: "FP32" of float32, "BYTES" of string.
/// Source: Open Inference Protocol (KServe v2), "Tensor Data Types".
/// Throws: TypeError for a type that the protocol has no name of.
[[nodiscard]] std::string_view inference_type_of(DType dtype);
/// The inverse. Throws: NotFound, with the nearest name.
[[nodiscard]] DType inference_dtype(std::string_view name);

struct InferenceTensor {
  std::string name;
  Tensor tensor;  ///< on the host, row-major
};

/// What a model is asked, however it came: as JSON, with binary data, as a message of gRPC.
struct InferenceRequest {
  std::string model;
  std::string version = {};  ///< empty: whichever the server takes
  std::string id = {};       ///< of whoever asks; answered as it is
  std::vector<InferenceTensor> inputs = {};
  std::vector<std::string> outputs = {};  ///< that are wanted; none: all
};

struct InferenceResponse {
  std::string model, version, id;
  std::vector<InferenceTensor> outputs;
};

/// An input or output of a model, as a server tells it.
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

/// A model in the list of a server.
struct InferenceModelState {
  std::string name, version;  ///< no version where it is not open
  bool is_ready = false;
  std::string reason = {};  ///< why it is not
};

/// "READY", "UNAVAILABLE"
[[nodiscard]] std::string_view state_word(const InferenceModelState& state);

struct InferenceServerInfo {
  std::string name, version;
  std::vector<std::string> extensions;
  bool operator==(const InferenceServerInfo&) const = default;
};

}  // namespace d5
