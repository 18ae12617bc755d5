// SPDX-License-Identifier: Apache-2.0
// LeNet-5 for 28x28 images: LeCun et al., "Gradient-Based Learning Applied to Document Recognition"
// (1998), with maximum pooling and rectifiers, which have replaced its trained subsampling and
// tanh.
#include "level1_network/models/layers/model_builder.hpp"

namespace d5::model {
namespace {

Network lenet(const ClassifierOptions& options) {
  ModelBuilder net("lenet", options);
  net.input("image", {"N", 1, 28, 28});
  net.conv("conv1", {.in = 1, .out = 6, .kernel = 5, .pad = 2});
  net.apply("Relu", "relu1");
  net.max_pool("pool1", {.kernel = 2, .stride = 2});
  net.conv("conv2", {.in = 6, .out = 16, .kernel = 5});
  net.apply("Relu", "relu2");
  net.max_pool("pool2", {.kernel = 2, .stride = 2});
  net.apply("Flatten", "flatten");
  net.linear("fc1", 16 * 5 * 5, 120);
  net.apply("Relu", "relu3");
  net.linear("fc2", 120, 84);
  net.apply("Relu", "relu4");
  net.classifier("fc3", 84, options.classes_or(10));
  return net.finish();
}

}  // namespace

void register_lenet(Registry<ModelEntry>& registry) {
  registry.add("lenet", ModelEntry::with<ClassifierOptions>(
                            "LeNet-5 for 28x28 images (LeCun et al., 1998)", lenet));
}

}  // namespace d5::model
