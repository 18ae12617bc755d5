// SPDX-License-Identifier: Apache-2.0
// Residual networks: He et al., "Deep Residual Learning for Image Recognition" (2015). For ImageNet
// the deep form is version 1.5, with the stride on the 3x3 convolution of a block, as torchvision
// has it; for CIFAR (section 4.2) shortcuts have no parameters (option A).
#include <limits>

#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

/// Brings a block's input to the shape of its output.
using Shortcut = void (*)(ModelBuilder& net, const std::string& name, std::int64_t in,
                          std::int64_t out, std::int64_t stride);

void projection(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out,
                std::int64_t stride) {
  conv_norm(net, name, {.in = in, .out = out, .kernel = 1, .stride = stride});
}

/// Takes every `stride`-th pixel, and appends channels of zeros.
void zero_padding(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out,
                  std::int64_t stride) {
  using Integers = std::vector<std::int64_t>;
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const auto constant = [&](const char* what, const Integers& values) {
    net.constant(name + what, Tensor::vector(values));
    return name + what;
  };
  net.node("Slice", name + ".slice",
           {net.current(), constant(".starts", {0, 0}), constant(".ends", {kEnd, kEnd}),
            constant(".axes", {2, 3}), constant(".steps", {stride, stride})});
  net.node("Pad", name + ".pad",
           {net.current(), constant(".pads", {0, 0, 0, 0, 0, out - in, 0, 0})});
}

/// The shortcut that a block adds to its result.
std::string skip_of(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out,
                    std::int64_t stride, Shortcut shortcut) {
  const std::string input = net.current();
  if (in == out && stride == 1) return input;
  shortcut(net, name + ".shortcut", in, out, stride);
  const std::string result = net.current();
  net.set_current(input);
  return result;
}

/// Two 3x3 convolutions.
void basic_block(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t width,
                 std::int64_t stride, Shortcut shortcut) {
  const std::string skip = skip_of(net, name, in, width, stride, shortcut);
  conv_norm(net, name + ".conv1",
            {.in = in, .out = width, .kernel = 3, .stride = stride, .pad = 1});
  net.apply("Relu", name + ".relu1");
  conv_norm(net, name + ".conv2", {.in = width, .out = width, .kernel = 3, .pad = 1});
  net.add(name + ".add", skip);
  net.apply("Relu", name + ".relu2");
}

/// 1x1 to a quarter of the channels, 3x3, 1x1 back to all.
void bottleneck(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t width,
                std::int64_t stride, Shortcut shortcut) {
  const std::string skip = skip_of(net, name, in, 4 * width, stride, shortcut);
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
  int layers;
  std::vector<int> blocks;  ///< number per stage
  decltype(&basic_block) block = basic_block;
  std::int64_t expansion = 1;  ///< channels that leave a block, over its width
};

/// Stages of blocks, and the classifier. The first stage has the stem's width; each other one has
/// twice the width and half the height of the stage before.
void add_stages(ModelBuilder& net, const Depth& depth, std::int64_t stem, Shortcut shortcut,
                std::int64_t classes) {
  std::int64_t channels = stem;
  for (std::size_t stage = 0; stage < depth.blocks.size(); ++stage) {
    const std::int64_t width = stem << stage;
    for (int i = 0; i < depth.blocks[stage]; ++i) {
      const std::string name =
          "stage" + std::to_string(stage + 1) + ".block" + std::to_string(i + 1);
      depth.block(net, name, channels, width, stage > 0 && i == 0 ? 2 : 1, shortcut);
      channels = width * depth.expansion;
    }
  }
  pooled_classifier(net, channels, classes);
}

std::string resnet_name(const Depth& depth) { return "resnet-" + std::to_string(depth.layers); }

struct ImagenetOptions : ClassifierOptions {
  std::int64_t size = 224;

  void declare(OptionList& options) {
    ClassifierOptions::declare(options);
    options.add("size", size, "height and width of an image", {.least = 32});
  }
};

Network for_imagenet(const Depth& depth, const ImagenetOptions& options) {
  ModelBuilder net(resnet_name(depth), options);
  net.input("image", {"N", 3, options.size, options.size});
  conv_norm_relu(net, "stem", {.in = 3, .out = 64, .kernel = 7, .stride = 2, .pad = 3});
  net.max_pool("stem.pool", {.kernel = 3, .stride = 2, .pad = 1});
  add_stages(net, depth, 64, projection, options.classes_or(1000));
  return net.finish();
}

Network for_cifar(const Depth& depth, const ClassifierOptions& options) {
  ModelBuilder net(resnet_name(depth), options);
  net.input("image", {"N", 3, 32, 32});
  conv_norm_relu(net, "stem", {.in = 3, .out = 16, .kernel = 3, .pad = 1});
  add_stages(net, depth, 16, zero_padding, options.classes_or(10));
  return net.finish();
}

}  // namespace

void register_resnet(Registry<ModelEntry>& registry) {
  const auto add = [&]<class Options>(const Depth& depth,
                                      Network build(const Depth&, const Options&),
                                      const std::string& images) {
    registry.add(resnet_name(depth),
                 ModelEntry::with<Options>(
                     "ResNet-" + std::to_string(depth.layers) + images + " (He et al., 2015)",
                     [=](const Options& options) { return build(depth, options); }));
  };
  for (const Depth& depth : {Depth{18, {2, 2, 2, 2}}, Depth{34, {3, 4, 6, 3}}}) {
    add(depth, for_imagenet, " for 224x224 images");
  }
  for (const Depth& depth :
       {Depth{50, {3, 4, 6, 3}, bottleneck, 4}, Depth{101, {3, 4, 23, 3}, bottleneck, 4},
        Depth{152, {3, 8, 36, 3}, bottleneck, 4}}) {
    add(depth, for_imagenet, " v1.5 for 224x224 images");
  }
  for (const int layers : {20, 32, 44, 56, 110}) {  // 6n + 2
    add({layers, std::vector<int>(3, layers / 6)}, for_cifar, " for CIFAR's 32x32 images");
  }
}

}  // namespace d5::model
