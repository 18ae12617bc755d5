// SPDX-License-Identifier: Apache-2.0
#include <onnx/shape_inference/implementation.h>

#include "onnx/stages.hpp"

namespace d5::onnx::detail {

void infer_types(::onnx::ModelProto& model) {
  const ::onnx::ShapeInferenceOptions options(/*check_type=*/false, /*strict_mode=*/0,
                                              /*data_prop=*/true);
  try {
    ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception&) {
    // A model may declare types that inference disputes, and still run: an operator's own shape
    // rule judges when shapes are known. What was inferred before stays.
  }
}

}  // namespace d5::onnx::detail
