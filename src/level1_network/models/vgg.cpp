// SPDX-License-Identifier: Apache-2.0
// VGG: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition"
// (2014), configurations A, B, D and E. Weights start as Glorot and Bengio's, which section 3.1
// names for training without a shallower network before; biases are zero.
#include <algorithm>
#include <array>

#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

struct Configuration {
  char letter;
  int layers;
  std::array<int, 5> convolutions;  ///< number per stage
};

std::string vgg_name(const Configuration& configuration) {
  return "vgg-" + std::to_string(configuration.layers);
}

Network vgg(const Configuration& configuration, const ClassifierOptions& options) {
  ModelBuilder net(vgg_name(configuration), options,
                   {.conv = glorot_uniform, .linear = glorot_uniform, .linear_bias = constant(0)});
  net.input("image", {"N", 3, 224, 224});
  std::int64_t channels = 3;
  for (std::size_t i = 0; i < configuration.convolutions.size(); ++i) {
    const std::string stage = "stage" + std::to_string(i + 1);
    const std::int64_t width = std::min<std::int64_t>(64 << i, 512);
    for (int conv = 1; conv <= configuration.convolutions[i]; ++conv) {
      conv_relu(net, stage + ".conv" + std::to_string(conv),
                {.in = channels, .out = width, .kernel = 3, .pad = 1});
      channels = width;
    }
    net.max_pool(stage + ".pool", {.kernel = 2, .stride = 2});
  }
  net.apply("Flatten", "flatten");
  std::int64_t features = channels * 7 * 7;
  for (const std::string layer : {"fc1", "fc2"}) {
    net.linear(layer, features, 4096);
    net.apply("Relu", layer + ".relu");
    net.dropout(layer + ".dropout", 0.5f);
    features = 4096;
  }
  net.classifier("fc3", features, options.classes_or(1000));
  return net.finish();
}

}  // namespace

void register_vgg(Registry<ModelEntry>& registry) {
  for (const Configuration& configuration :
       {Configuration{'A', 11, {1, 1, 2, 2, 2}}, Configuration{'B', 13, {2, 2, 2, 2, 2}},
        Configuration{'D', 16, {2, 2, 3, 3, 3}}, Configuration{'E', 19, {2, 2, 4, 4, 4}}}) {
    registry.add(
        vgg_name(configuration),
        ModelEntry::with<ClassifierOptions>(
            "VGG-" + std::to_string(configuration.layers) + ", configuration " +
                configuration.letter + ", for 224x224 images (Simonyan and Zisserman, 2014)",
            [configuration](const ClassifierOptions& options) {
              return vgg(configuration, options);
            }));
  }
}

}  // namespace d5::model
