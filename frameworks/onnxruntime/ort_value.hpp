// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/value.hpp"
#include "ort_api.hpp"

namespace d5::onnxruntime {

/// Reason why ONNX Runtime cannot exchange values of this type; empty if it can.
[[nodiscard]] std::string refusal(const ValueDesc& desc);

/// Converts `value` to ONNX Runtime's, over d5's memory if possible; strings and sequences are
/// copied.
/// Throws: Unsupported.
[[nodiscard]] Handle<OrtValue> to_ort(const Value& value);

/// Converts a value from ONNX Runtime, valid as long as it is held. Strings are copied.
[[nodiscard]] Value from_ort(Handle<OrtValue> value);

/// Whether `to_ort` shares the elements, so that a result may be written there.
[[nodiscard]] inline bool is_shared(const Value& value) {
  return value.is_tensor() && value.tensor().dtype() != DType::string;
}

}  // namespace d5::onnxruntime
