// SPDX-License-Identifier: Apache-2.0
// Residual networks: He et al., "Deep Residual Learning for Image Recognition" (2015). The deep
// form is version 1.5, with the stride on the 3x3 convolution of a block, as torchvision has it.
#include <array>

#include "level1_network/model_builder.hpp"

namespace d5::model {
namespace {

/// A convolution without bias, normalized.
void conv_norm(ModelBuilder& net, const std::string& name, ModelBuilder::Convolution shape) {
  shape.bias = false;
  net.conv(name, shape);
  net.batch_norm(name + ".norm", shape.out);
}

/// The shortcut of a block: the block's input, or a 1x1 convolution where the shape changes.
std::string shortcut(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out,
                     std::int64_t stride) {
  const std::string input = net.current();
  if (in == out && stride == 1) return input;
  conv_norm(net, name + ".shortcut", {.in = in, .out = out, .kernel = 1, .stride = stride});
  const std::string result = net.current();
  net.set_current(input);
  return result;
}

/// Two 3x3 convolutions.
void basic_block(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t width,
                 std::int64_t stride) {
  const std::string skip = shortcut(net, name, in, width, stride);
  conv_norm(net, name + ".conv1",
            {.in = in, .out = width, .kernel = 3, .stride = stride, .pad = 1});
  net.apply("Relu", name + ".relu1");
  conv_norm(net, name + ".conv2", {.in = width, .out = width, .kernel = 3, .pad = 1});
  net.add(name + ".add", skip);
  net.apply("Relu", name + ".relu2");
}

/// 1x1 to a quarter of the channels, 3x3, 1x1 back.
void bottleneck(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t width,
                std::int64_t stride) {
  const std::string skip = shortcut(net, name, in, 4 * width, stride);
  conv_norm(net, name + ".conv1", {.in = in, .out = width, .kernel = 1});
  net.apply("Relu", name + ".relu1");
  conv_norm(net, name + ".conv2",
            {.in = width, .out = width, .kernel = 3, .stride = stride, .pad = 1});
  net.apply("Relu", name + ".relu2");
  conv_norm(net, name + ".conv3", {.in = width, .out = 4 * width, .kernel = 1});
  net.add(name + ".add", skip);
  net.apply("Relu", name + ".relu3");
}

struct Depth {
  std::string name;
  std::array<int, 4> blocks;
  decltype(&basic_block) block;
  std::int64_t expansion;  ///< channels that leave a block, over its width
};

Network resnet(const Depth& depth, const ModelOptions& options) {
  ModelBuilder net(depth.name, options);
  net.input("image", {"N", 3, 224, 224});
  conv_norm(net, "stem", {.in = 3, .out = 64, .kernel = 7, .stride = 2, .pad = 3});
  net.apply("Relu", "stem.relu");
  net.max_pool("stem.pool", 3, 2, 1);
  std::int64_t channels = 64;
  for (std::size_t stage = 0; stage < depth.blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (int i = 0; i < depth.blocks[stage]; ++i) {
      const std::string name =
          "stage" + std::to_string(stage + 1) + ".block" + std::to_string(i + 1);
      depth.block(net, name, channels, width, stage > 0 && i == 0 ? 2 : 1);
      channels = width * depth.expansion;
    }
  }
  net.apply("GlobalAveragePool", "pool");
  net.apply("Flatten", "flatten");
  net.classifier("fc", channels, 1000);
  return net.finish();
}

}  // namespace

void register_resnet(Registry<ModelEntry>& registry) {
  const auto add = [&](const Depth& depth, const char* summary) {
    registry.add(depth.name,
                 ModelEntry::with<ModelOptions>(summary, [depth](const ModelOptions& options) {
                   return resnet(depth, options);
                 }));
  };
  add({"resnet-18", {2, 2, 2, 2}, basic_block, 1},
      "ResNet-18 for 224x224 images (He et al., 2015)");
  add({"resnet-50", {3, 4, 6, 3}, bottleneck, 4},
      "ResNet-50 v1.5 for 224x224 images (He et al., 2015)");
}

}  // namespace d5::model
