// SPDX-License-Identifier: Apache-2.0
// MobileNet: Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision
// Applications" (2017), table 1. The last depthwise convolution has stride 1: the stride of 2 that
// the table gives it does not lead to the sizes in the table.
#include <array>

#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

/// A 3x3 convolution within each channel, and a 1x1 convolution across them.
struct Separable {
  std::int64_t out, stride;
};

constexpr std::array<Separable, 13> kBlocks{{{64, 1},
                                             {128, 2},
                                             {128, 1},
                                             {256, 2},
                                             {256, 1},
                                             {512, 2},
                                             {512, 1},
                                             {512, 1},
                                             {512, 1},
                                             {512, 1},
                                             {512, 1},
                                             {1024, 2},
                                             {1024, 1}}};

Network mobilenet(const ClassifierOptions& options) {
  ModelBuilder net("mobilenet-v1", options);
  net.input("image", {"N", 3, 224, 224});
  conv_norm_relu(net, "stem", {.in = 3, .out = 32, .kernel = 3, .stride = 2, .pad = 1});
  std::int64_t channels = 32;
  for (std::size_t i = 0; i < kBlocks.size(); ++i) {
    const auto [out, stride] = kBlocks[i];
    const std::string name = "block" + std::to_string(i + 1);
    conv_norm_relu(net, name + ".depthwise",
                   {.in = channels,
                    .out = channels,
                    .kernel = 3,
                    .stride = stride,
                    .pad = 1,
                    .groups = channels});
    conv_norm_relu(net, name + ".pointwise", {.in = channels, .out = out, .kernel = 1});
    channels = out;
  }
  pooled_classifier(net, channels, options.classes_or(1000));
  return net.finish();
}

}  // namespace

void register_mobilenet(Registry<ModelEntry>& registry) {
  registry.add("mobilenet-v1",
               ModelEntry::with<ClassifierOptions>(
                   "MobileNet for 224x224 images (Howard et al., 2017)", mobilenet));
}

}  // namespace d5::model
