// SPDX-License-Identifier: Apache-2.0
// SqueezeNet: Iandola et al., "SqueezeNet: AlexNet-Level Accuracy with 50x Fewer Parameters and
// <0.5MB Model Size" (2016), and version 1.1 of its authors, which has the same accuracy with less
// than half of the work.
#include <array>

#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

struct Version {
  std::string name;
  std::int64_t channels, kernel;  ///< size of the first convolution
  std::array<int, 2> pools;       ///< after these fire modules
};

/// 1x1 to few channels, then 1x1 and 3x3 in parallel.
void fire(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t squeeze) {
  const std::int64_t expand = 4 * squeeze;
  conv_relu(net, name + ".squeeze", {.in = in, .out = squeeze, .kernel = 1});
  const std::string squeezed = net.current();
  conv_relu(net, name + ".expand1x1", {.in = squeeze, .out = expand, .kernel = 1});
  const std::string narrow = net.current();
  net.set_current(squeezed);
  conv_relu(net, name + ".expand3x3", {.in = squeeze, .out = expand, .kernel = 3, .pad = 1});
  net.concat(name + ".concat", {narrow, net.current()});
}

Network squeezenet(const Version& version, const ClassifierOptions& options) {
  const auto pool = [](ModelBuilder& net, int after) {
    net.max_pool("pool" + std::to_string(after),
                 {.kernel = 3, .stride = 2, .size = ModelBuilder::Rounding::up});
  };
  ModelBuilder net(version.name, options);
  net.input("image", {"N", 3, 224, 224});
  conv_relu(net, "conv1",
            {.in = 3, .out = version.channels, .kernel = version.kernel, .stride = 2});
  pool(net, 1);
  std::int64_t channels = version.channels;
  for (int i = 2; i <= 9; ++i) {
    const std::int64_t squeeze = 16 * (i / 2);
    fire(net, "fire" + std::to_string(i), channels, squeeze);
    channels = 8 * squeeze;
    if (i == version.pools[0] || i == version.pools[1]) pool(net, i);
  }
  net.dropout("dropout", 0.5f);
  conv_relu(net, "conv10", {.in = channels, .out = options.classes_or(1000), .kernel = 1});
  net.apply("GlobalAveragePool", "pool");
  net.node("Flatten", "flatten", {net.current()}, {}, "logits");
  return net.finish();
}

}  // namespace

void register_squeezenet(Registry<ModelEntry>& registry) {
  for (const Version& version :
       {Version{"squeezenet-1.0", 96, 7, {4, 8}}, Version{"squeezenet-1.1", 64, 3, {3, 5}}}) {
    registry.add(version.name, ModelEntry::with<ClassifierOptions>(
                                   "SqueezeNet " + version.name.substr(version.name.size() - 3) +
                                       " for 224x224 images (Iandola et al., 2016)",
                                   [version](const ClassifierOptions& options) {
                                     return squeezenet(version, options);
                                   }));
  }
}

}  // namespace d5::model
