// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/serving/inference/inference_message.hpp"
#include "d5/serving/inference/inference_statistics.hpp"
#include "serving/inference/open_inference.pb.h"

namespace d5::detail {

/// Reads a request with raw inputs, or element by element. Throws: as `read_request`.
[[nodiscard]] InferenceRequest request_of(const inference::ModelInferRequest& message);
[[nodiscard]] InferenceResponse response_of(const inference::ModelInferResponse& message);
[[nodiscard]] InferenceModelInfo model_of(const inference::ModelMetadataResponse& message);

/// Writes all tensors raw.
void fill(inference::ModelInferRequest& message, const InferenceRequest& request);
void fill(inference::ModelInferResponse& message, const InferenceResponse& response);
void fill(inference::ModelMetadataResponse& message, const InferenceModelInfo& model);
void fill(inference::ModelConfig& message, const InferenceModelConfig& config);
void fill(inference::ModelStatistics& message, const InferenceModelStatistics& model);

}  // namespace d5::detail
