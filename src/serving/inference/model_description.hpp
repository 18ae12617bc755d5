// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/serving/inference/inference_message.hpp"

namespace d5::detail {

/// Inputs and outputs of a network, without its name and version.
/// Throws: Unsupported for inputs that are not tensors, or have no batch dimension; TypeError for
/// types that the protocol does not have.
[[nodiscard]] InferenceModelInfo described_model(const Network& network,
                                                 const std::string& framework);
/// The only batch size that the model accepts; 0: any. Throws: Unsupported if its inputs differ.
[[nodiscard]] std::int64_t fixed_batch(const InferenceModelInfo& model);

/// Checks an input. Throws: NotFound for an unknown one; TypeError, ShapeError for a wrong type or
/// shape, with both.
void expect_input(const InferenceModelInfo& model, const InferenceTensor& input);
/// The number of samples in each input. Throws: ShapeError if inputs differ or have no samples;
/// NotFound if one is missing.
[[nodiscard]] std::int64_t samples_of(const InferenceModelInfo& model, const ValueMap& inputs);
/// Names of the `wanted` outputs, in that order; if none is wanted, of all in the model's order.
/// Throws: NotFound.
[[nodiscard]] std::vector<std::string> answered_outputs(const InferenceModelInfo& model,
                                                        const ValueMap& outputs,
                                                        const std::vector<std::string>& wanted);

}  // namespace d5::detail
