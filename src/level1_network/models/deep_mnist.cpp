// SPDX-License-Identifier: Apache-2.0
// The convolutional network of TensorFlow's tutorial "Deep MNIST for Experts" (2015), with its
// initial values: weights truncated normal of deviation 0.1, biases 0.1.
#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

Network deep_mnist(const ClassifierOptions& options) {
  ModelBuilder net("deep-mnist", options,
                   {.conv = truncated_normal(0.1f),
                    .conv_bias = constant(0.1f),
                    .linear = truncated_normal(0.1f),
                    .linear_bias = constant(0.1f)});
  net.input("image", {"N", 1, 28, 28});
  conv_relu(net, "conv1", {.in = 1, .out = 32, .kernel = 5, .pad = 2});
  net.max_pool("pool1", {.kernel = 2, .stride = 2});
  conv_relu(net, "conv2", {.in = 32, .out = 64, .kernel = 5, .pad = 2});
  net.max_pool("pool2", {.kernel = 2, .stride = 2});
  net.apply("Flatten", "flatten");
  net.linear("fc1", 64 * 7 * 7, 1024);
  net.apply("Relu", "fc1.relu");
  net.dropout("dropout", 0.5f);
  net.classifier("fc2", 1024, options.classes_or(10));
  return net.finish();
}

}  // namespace

void register_deep_mnist(Registry<ModelEntry>& registry) {
  registry.add("deep-mnist",
               ModelEntry::with<ClassifierOptions>(
                   "two convolutions for 28x28 images (TensorFlow's tutorial, 2015)", deep_mnist));
}

}  // namespace d5::model
