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
/// Throws: Unsupported for inputs that are no tensors, or have no dimension for samples; TypeError
/// for types that the protocol does not know.
[[nodiscard]] InferenceModelInfo described_model(const Network& network,
                                                 const std::string& framework);
/// The only number of samples that it takes; 0: any. Throws: Unsupported where its inputs differ.
[[nodiscard]] std::int64_t fixed_batch(const InferenceModelInfo& model);

/// Throws: NotFound for an input that the model does not have; TypeError, ShapeError where it is of
/// another type or shape, with both.
void expect_input(const InferenceModelInfo& model, const InferenceTensor& input);
/// How many all inputs have. Throws: ShapeError where they differ or have none; NotFound where one
/// is missing.
[[nodiscard]] std::int64_t samples_of(const InferenceModelInfo& model, const ValueMap& inputs);
/// Those of `outputs` that are `wanted`, in that order; all that there are, in the model's, where
/// none is. Throws: NotFound.
[[nodiscard]] std::vector<std::string> answered_outputs(const InferenceModelInfo& model,
                                                        const ValueMap& outputs,
                                                        const std::vector<std::string>& wanted);

}  // namespace d5::detail
