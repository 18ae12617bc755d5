// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/value.hpp"
#include "ort_api.hpp"

namespace d5::onnxruntime {

/// Why ONNX Runtime cannot take or give values of this type; empty if it can.
[[nodiscard]] std::string refusal(const ValueDesc& desc);

/// `value` as ONNX Runtime's, over d5's memory where that is possible: texts and sequences are
/// copied. Throws: Unsupported.
[[nodiscard]] Handle<OrtValue> to_ort(const Value& value);

/// Converts a value from ONNX Runtime, valid as long as it is held. Strings are copied.
[[nodiscard]] Value from_ort(Handle<OrtValue> value);

/// Whether `to_ort` leaves the elements where they are, so that a result may be written there.
[[nodiscard]] inline bool is_shared(const Value& value) {
  return value.is_tensor() && value.tensor().dtype() != DType::string;
}

}  // namespace d5::onnxruntime
