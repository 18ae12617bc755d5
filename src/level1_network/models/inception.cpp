// SPDX-License-Identifier: Apache-2.0
// Inception v1: Szegedy et al., "Going Deeper with Convolutions" (2014), table 1, without auxiliary
// classifiers. As torchvision has it, with batch normalization (Ioffe and Szegedy, 2015) in place
// of local response normalization and biases, and 3x3 convolutions in place of 5x5 ones.
#include <array>
#include <span>

#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

/// Channels of the four branches, and of the reductions before large convolutions.
struct Module {
  std::int64_t conv1x1, reduce3x3, conv3x3, reduce5x5, conv5x5, pooled;
  [[nodiscard]] std::int64_t out() const { return conv1x1 + conv3x3 + conv5x5 + pooled; }
};

constexpr std::array<Module, 2> kStage3{{{64, 96, 128, 16, 32, 32},  //
                                         {128, 128, 192, 32, 96, 64}}};
constexpr std::array<Module, 5> kStage4{{{192, 96, 208, 16, 48, 64},
                                         {160, 112, 224, 24, 64, 64},
                                         {128, 128, 256, 24, 64, 64},
                                         {112, 144, 288, 32, 64, 64},
                                         {256, 160, 320, 32, 128, 128}}};
constexpr std::array<Module, 2> kStage5{{{256, 160, 320, 32, 128, 128},  //
                                         {384, 192, 384, 48, 128, 128}}};

void inception(ModelBuilder& net, const std::string& name, std::int64_t in, const Module& module) {
  const std::string input = net.current();
  std::vector<std::string> branches;
  const auto end_branch = [&] {
    branches.push_back(net.current());
    net.set_current(input);
  };
  conv_norm_relu(net, name + ".branch1.conv", {.in = in, .out = module.conv1x1, .kernel = 1});
  end_branch();
  conv_norm_relu(net, name + ".branch2.reduce", {.in = in, .out = module.reduce3x3, .kernel = 1});
  conv_norm_relu(net, name + ".branch2.conv",
                 {.in = module.reduce3x3, .out = module.conv3x3, .kernel = 3, .pad = 1});
  end_branch();
  conv_norm_relu(net, name + ".branch3.reduce", {.in = in, .out = module.reduce5x5, .kernel = 1});
  conv_norm_relu(net, name + ".branch3.conv",
                 {.in = module.reduce5x5, .out = module.conv5x5, .kernel = 3, .pad = 1});
  end_branch();
  net.max_pool(name + ".branch4.pool", {.kernel = 3, .stride = 1, .pad = 1});
  conv_norm_relu(net, name + ".branch4.conv", {.in = in, .out = module.pooled, .kernel = 1});
  end_branch();
  net.concat(name + ".concat", branches);
}

/// Adds modules "<name>a", "<name>b" ...; returns the channels of the last.
std::int64_t add_stage(ModelBuilder& net, const std::string& name, std::int64_t channels,
                       std::span<const Module> modules) {
  char letter = 'a';
  for (const Module& module : modules) {
    inception(net, name + letter++, channels, module);
    channels = module.out();
  }
  return channels;
}

Network inception_v1(const ClassifierOptions& options) {
  ModelBuilder net("inception-v1", options);
  const auto pool = [&](const char* name) {
    net.max_pool(name, {.kernel = 3, .stride = 2, .size = ModelBuilder::Rounding::up});
  };
  net.input("image", {"N", 3, 224, 224});
  conv_norm_relu(net, "conv1", {.in = 3, .out = 64, .kernel = 7, .stride = 2, .pad = 3});
  pool("pool1");
  conv_norm_relu(net, "conv2.reduce", {.in = 64, .out = 64, .kernel = 1});
  conv_norm_relu(net, "conv2", {.in = 64, .out = 192, .kernel = 3, .pad = 1});
  pool("pool2");
  std::int64_t channels = add_stage(net, "inception3", 192, kStage3);
  pool("pool3");
  channels = add_stage(net, "inception4", channels, kStage4);
  pool("pool4");
  channels = add_stage(net, "inception5", channels, kStage5);
  net.apply("GlobalAveragePool", "pool");
  net.apply("Flatten", "flatten");
  net.dropout("dropout", 0.4f);
  net.classifier("fc", channels, options.classes_or(1000));
  return net.finish();
}

}  // namespace

void register_inception(Registry<ModelEntry>& registry) {
  registry.add("inception-v1", ModelEntry::with<ClassifierOptions>(
                                   "Inception v1 (GoogLeNet) with batch normalization, for 224x224 "
                                   "images (Szegedy et al., 2014)",
                                   inception_v1));
}

}  // namespace d5::model
