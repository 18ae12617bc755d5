// SPDX-License-Identifier: Apache-2.0
// AlexNet in the single-tower form of Krizhevsky, "One Weird Trick for Parallelizing Convolutional
// Neural Networks" (2014), which has neither groups nor local response normalization.
#include "level1_network/models/layers/model_builder.hpp"

namespace d5::model {
namespace {

Network alexnet(const ClassifierOptions& options) {
  ModelBuilder net("alexnet", options);
  net.input("image", {"N", 3, 224, 224});
  net.conv("conv1", {.in = 3, .out = 64, .kernel = 11, .stride = 4, .pad = 2});
  net.apply("Relu", "relu1");
  net.max_pool("pool1", {.kernel = 3, .stride = 2});
  net.conv("conv2", {.in = 64, .out = 192, .kernel = 5, .pad = 2});
  net.apply("Relu", "relu2");
  net.max_pool("pool2", {.kernel = 3, .stride = 2});
  net.conv("conv3", {.in = 192, .out = 384, .kernel = 3, .pad = 1});
  net.apply("Relu", "relu3");
  net.conv("conv4", {.in = 384, .out = 256, .kernel = 3, .pad = 1});
  net.apply("Relu", "relu4");
  net.conv("conv5", {.in = 256, .out = 256, .kernel = 3, .pad = 1});
  net.apply("Relu", "relu5");
  net.max_pool("pool5", {.kernel = 3, .stride = 2});
  net.apply("Flatten", "flatten");
  net.dropout("drop6", 0.5f);
  net.linear("fc6", 256 * 6 * 6, 4096);
  net.apply("Relu", "relu6");
  net.dropout("drop7", 0.5f);
  net.linear("fc7", 4096, 4096);
  net.apply("Relu", "relu7");
  net.classifier("fc8", 4096, options.classes_or(1000));
  return net.finish();
}

}  // namespace

void register_alexnet(Registry<ModelEntry>& registry) {
  registry.add("alexnet", ModelEntry::with<ClassifierOptions>(
                              "AlexNet for 224x224 images (Krizhevsky, 2014)", alexnet));
}

}  // namespace d5::model
