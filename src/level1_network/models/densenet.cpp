// SPDX-License-Identifier: Apache-2.0
// DenseNet: Huang et al., "Densely Connected Convolutional Networks" (2016), form BC with growth 32
// and compression 0.5.
#include <array>

#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

constexpr std::int64_t kGrowth = 32;  ///< channels that a layer adds

struct Depth {
  int layers;
  std::array<int, 4> blocks;  ///< layers of each dense block
};

std::string name_of(const Depth& depth) { return "densenet-" + std::to_string(depth.layers); }

/// A 1x1 convolution to four times the growth, then 3x3 to the growth; its output is appended to
/// the channels so far.
void dense_layer(ModelBuilder& net, const std::string& name, std::int64_t in) {
  const std::string input = net.current();
  norm_relu(net, name + ".norm1", in);
  net.conv(name + ".conv1", {.in = in, .out = 4 * kGrowth, .kernel = 1, .bias = false});
  norm_relu(net, name + ".norm2", 4 * kGrowth);
  net.conv(name + ".conv2",
           {.in = 4 * kGrowth, .out = kGrowth, .kernel = 3, .pad = 1, .bias = false});
  net.concat(name + ".concat", {input, net.current()});
}

/// Halves the channels, the height and the width.
void transition(ModelBuilder& net, const std::string& name, std::int64_t in) {
  norm_relu(net, name + ".norm", in);
  net.conv(name + ".conv", {.in = in, .out = in / 2, .kernel = 1, .bias = false});
  net.average_pool(name + ".pool", {.kernel = 2, .stride = 2});
}

Network densenet(const Depth& depth, const ClassifierOptions& options) {
  ModelBuilder net(name_of(depth), options, {.conv = he_fan_in});
  net.input("image", {"N", 3, 224, 224});
  conv_norm_relu(net, "stem", {.in = 3, .out = 64, .kernel = 7, .stride = 2, .pad = 3});
  net.max_pool("stem.pool", {.kernel = 3, .stride = 2, .pad = 1});
  std::int64_t channels = 64;
  for (std::size_t block = 0; block < depth.blocks.size(); ++block) {
    const std::string number = std::to_string(block + 1);
    for (int i = 1; i <= depth.blocks[block]; ++i) {
      dense_layer(net, "block" + number + ".layer" + std::to_string(i), channels);
      channels += kGrowth;
    }
    if (block + 1 == depth.blocks.size()) break;
    transition(net, "transition" + number, channels);
    channels /= 2;
  }
  norm_relu(net, "norm", channels);
  pooled_classifier(net, channels, options.classes_or(1000));
  return net.finish();
}

}  // namespace

void register_densenet(Registry<ModelEntry>& registry) {
  for (const Depth& depth :
       {Depth{121, {6, 12, 24, 16}}, Depth{169, {6, 12, 32, 32}}, Depth{201, {6, 12, 48, 32}}}) {
    registry.add(
        name_of(depth),
        ModelEntry::with<ClassifierOptions>(
            "DenseNet-" + std::to_string(depth.layers) + " for 224x224 images (Huang et al., 2016)",
            [depth](const ClassifierOptions& options) { return densenet(depth, options); }));
  }
}

}  // namespace d5::model
