// SPDX-License-Identifier: Apache-2.0
// Wide residual networks: Zagoruyko and Komodakis, "Wide Residual Networks" (2016). Normalization
// and rectifier precede each convolution. A block that changes the shape has a 1x1 convolution of
// its normalized input as its shortcut.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level1_network/models/layers/image_layers.hpp"

namespace d5::model {
namespace {

struct WideResnetOptions : ClassifierOptions {
  std::int64_t depth = 28;
  std::int64_t width = 10;

  void declare(OptionList& options) {
    ClassifierOptions::declare(options);
    options.add("depth", depth, "number of layers, 6n + 4", {.least = 10});
    options.add("width", width, "widening factor of 16, 32 and 64 channels", {.least = 1});
  }
};

void block(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out,
           std::int64_t stride) {
  std::string skip = net.current();
  norm_relu(net, name + ".norm1", in);
  if (in != out || stride != 1) {
    const std::string normalized = net.current();
    net.conv(name + ".shortcut",
             {.in = in, .out = out, .kernel = 1, .stride = stride, .bias = false});
    skip = net.current();
    net.set_current(normalized);
  }
  net.conv(name + ".conv1",
           {.in = in, .out = out, .kernel = 3, .stride = stride, .pad = 1, .bias = false});
  norm_relu(net, name + ".norm2", out);
  net.conv(name + ".conv2", {.in = out, .out = out, .kernel = 3, .pad = 1, .bias = false});
  net.add(name + ".add", skip);
}

Network wide_resnet(const WideResnetOptions& options) {
  if (options.depth % 6 != 4) {
    throw ValueError(
        fmt::format("network wide-resnet: depth is {}, expected 6n + 4: 10, 16, 22, 28, 34, 40 ...",
                    options.depth));
  }
  ModelBuilder net(fmt::format("wide-resnet-{}-{}", options.depth, options.width), options);
  net.input("image", {"N", 3, 32, 32});
  net.conv("stem", {.in = 3, .out = 16, .kernel = 3, .pad = 1, .bias = false});
  std::int64_t channels = 16;
  for (int stage = 1; stage <= 3; ++stage) {
    const std::int64_t width = (std::int64_t{8} << stage) * options.width;
    for (std::int64_t i = 1; i <= options.depth / 6; ++i) {
      block(net, fmt::format("stage{}.block{}", stage, i), channels, width,
            stage > 1 && i == 1 ? 2 : 1);
      channels = width;
    }
  }
  norm_relu(net, "norm", channels);
  pooled_classifier(net, channels, options.classes_or(10));
  return net.finish();
}

}  // namespace

void register_wide_resnet(Registry<ModelEntry>& registry) {
  registry.add(
      "wide-resnet",
      ModelEntry::with<WideResnetOptions>(
          "wide ResNet for CIFAR's 32x32 images (Zagoruyko and Komodakis, 2016)", wide_resnet));
}

}  // namespace d5::model
