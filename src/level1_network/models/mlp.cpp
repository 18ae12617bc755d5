// SPDX-License-Identifier: Apache-2.0
// A multilayer perceptron: by default one hidden layer of 800 units, as in Simard et al., "Best
// Practices for Convolutional Neural Networks Applied to Visual Document Analysis" (2003), with
// rectifiers.
#include "level1_network/models/layers/model_builder.hpp"

namespace d5::model {
namespace {

struct MlpOptions : ClassifierOptions {
  std::int64_t layers = 1;
  std::int64_t width = 800;

  void declare(OptionList& options) {
    ClassifierOptions::declare(options);
    options.add("layers", layers, "number of hidden layers", {.least = 0});
    options.add("width", width, "units per hidden layer", {.least = 1});
  }
};

Network mlp(const MlpOptions& options) {
  ModelBuilder net("mlp", options);
  net.input("image", {"N", 1, 28, 28});
  net.apply("Flatten", "flatten");
  std::int64_t units = 28 * 28;
  for (std::int64_t i = 1; i <= options.layers; ++i) {
    net.linear("fc" + std::to_string(i), units, options.width);
    net.apply("Relu", "relu" + std::to_string(i));
    units = options.width;
  }
  net.classifier("fc" + std::to_string(options.layers + 1), units, options.classes_or(10));
  return net.finish();
}

}  // namespace

void register_mlp(Registry<ModelEntry>& registry) {
  registry.add("mlp", ModelEntry::with<MlpOptions>(
                          "multilayer perceptron for 28x28 images (Simard et al., 2003)", mlp));
}

}  // namespace d5::model
