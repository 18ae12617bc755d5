// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/serving/inference/inference_message.hpp"
#include "serving/inference/request_rows.hpp"

namespace d5::detail {

/// Inputs and outputs of a network, without its name and version.
/// Throws: Unsupported for inputs that are not tensors, or have no batch dimension; TypeError for
/// types that the protocol does not have.
[[nodiscard]] InferenceModelInfo described_model(const Network& network,
                                                 const std::string& framework);
/// The only batch size that the model accepts; 0: any. Throws: Unsupported if its inputs differ.
[[nodiscard]] std::int64_t fixed_batch(const InferenceModelInfo& model);

/// Triton's name of an element type in a model configuration: "TYPE_FP32" for "FP32".
[[nodiscard]] std::string config_type_of(const std::string& type);
/// Takes the first dimension, which is the sample, out of all shapes.
void leave_out_sample(InferenceModelInfo& model);

/// The inputs of a request as rows, `rows_a_query` of which are one query. Throws: NotFound for an
/// unknown or missing input; TypeError, ShapeError for a wrong type or shape, with both; ShapeError
/// if inputs differ in samples, or have none, or too many; ValueError for an input given twice.
[[nodiscard]] RequestRows request_rows(const InferenceModelInfo& model,
                                       const InferenceRequest& request, std::int64_t rows_a_query);
/// Names of the `wanted` outputs, in that order; if none is wanted, of all in the model's order.
/// Throws: NotFound.
[[nodiscard]] std::vector<std::string> answered_outputs(const InferenceModelInfo& model,
                                                        const ValueMap& outputs,
                                                        const std::vector<std::string>& wanted);

}  // namespace d5::detail
