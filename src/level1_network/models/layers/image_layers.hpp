// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/models/layers/model_builder.hpp"

/// Groups of layers that are common in networks for images.
namespace d5::model {

/// A convolution and a rectifier, "<name>.relu".
void conv_relu(ModelBuilder& net, const std::string& name, const ModelBuilder::Convolution& shape);
/// A convolution and a batch normalization, "<name>.norm"; the convolution has no bias.
void conv_norm(ModelBuilder& net, const std::string& name, ModelBuilder::Convolution shape);
void conv_norm_relu(ModelBuilder& net, const std::string& name,
                    const ModelBuilder::Convolution& shape);
/// A batch normalization and a rectifier, before a convolution without bias.
void norm_relu(ModelBuilder& net, const std::string& name, std::int64_t channels);
/// The last layers: the mean of each channel, and the classifier "fc" on these.
void pooled_classifier(ModelBuilder& net, std::int64_t channels, std::int64_t classes);

}  // namespace d5::model
