// SPDX-License-Identifier: Apache-2.0
#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {

void conv_relu(ModelBuilder& net, const std::string& name, const ModelBuilder::Convolution& shape) {
  net.conv(name, shape);
  net.apply("Relu", name + ".relu");
}

void conv_norm(ModelBuilder& net, const std::string& name, ModelBuilder::Convolution shape) {
  shape.bias = false;
  net.conv(name, shape);
  net.batch_norm(name + ".norm", shape.out);
}

void conv_norm_relu(ModelBuilder& net, const std::string& name,
                    const ModelBuilder::Convolution& shape) {
  conv_norm(net, name, shape);
  net.apply("Relu", name + ".relu");
}

void norm_relu(ModelBuilder& net, const std::string& name, std::int64_t channels) {
  net.batch_norm(name, channels);
  net.apply("Relu", name + ".relu");
}

void pooled_classifier(ModelBuilder& net, std::int64_t channels, std::int64_t classes) {
  net.apply("GlobalAveragePool", "pool");
  net.apply("Flatten", "flatten");
  net.classifier("fc", channels, classes);
}

}  // namespace d5::model
