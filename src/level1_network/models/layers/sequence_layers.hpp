// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/models/layers/model_builder.hpp"

/// Layers of networks for sequences, on the last dimension of tensors of any rank.
namespace d5::model {

/// Embedding: one row of the table "<name>.weight" per token.
void embed(ModelBuilder& net, const std::string& name, std::int64_t vocabulary, std::int64_t width,
           const InitialWeights& draw);
/// A linear layer without bias; its weights are {in, out}.
void project(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out);
/// Fully connected layer with bias.
void linear(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out,
            const std::string& output = "");

}  // namespace d5::model
