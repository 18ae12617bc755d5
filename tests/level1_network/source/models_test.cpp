// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/models.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/validation/network_validation.hpp"

using namespace d5;

namespace {

std::int64_t weights(const std::string& model, const Settings& settings = {}) {
  Network network = models().at(model).make(settings);
  std::int64_t count = 0;
  for (const auto& parameter : network.parameters()) count += parameter.value.elements();
  return count;
}

/// Parameters of a convolution without bias, and of the normalization on one side of it.
constexpr std::int64_t conv_norm(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                 std::int64_t normalized) {
  return in * out * kernel * kernel + 2 * normalized;
}

/// 6n + 2 layers: a stem and three stages of n blocks of two 3x3 convolutions.
constexpr std::int64_t cifar_resnet(std::int64_t n) {
  std::int64_t count = conv_norm(3, 16, 3, 16) + (64 + 1) * 10;
  for (const std::int64_t width : {16, 32, 64}) {
    const std::int64_t in = width == 16 ? 16 : width / 2;
    count += conv_norm(in, width, 3, width) + (2 * n - 1) * conv_norm(width, width, 3, width);
  }
  return count;
}

/// 6n + 4 layers. A block normalizes what enters each of its convolutions.
constexpr std::int64_t wide_resnet(std::int64_t n, std::int64_t widening) {
  std::int64_t count = 3 * 16 * 9, in = 16;
  for (const std::int64_t base : {16, 32, 64}) {
    const std::int64_t width = base * widening;
    count += conv_norm(in, width, 3, in) + in * width;  // and the shortcut
    count += (2 * n - 1) * conv_norm(width, width, 3, width);
    in = width;
  }
  return count + 2 * in + (in + 1) * 10;
}

/// Attention's four projections, two linear layers with biases and two normalizations a layer.
constexpr std::int64_t transformer(std::int64_t layers, std::int64_t width, std::int64_t hidden,
                                   std::int64_t vocabulary) {
  const std::int64_t layer =
      4 * width * width + (width + 1) * hidden + (hidden + 1) * width + 2 * 2 * width;
  return vocabulary * width + layers * layer;
}

/// Four gates a layer, each with the weights of input and state and ONNX's two biases.
constexpr std::int64_t lstm(std::int64_t layers, std::int64_t width, std::int64_t vocabulary) {
  return vocabulary * width + layers * 4 * width * (2 * width + 2) + (width + 1) * vocabulary;
}

/// Four projections, the three of SwiGLU and two normalizations a layer; one normalization at the
/// end, and an embedding that predicts, too.
constexpr std::int64_t decoder(std::int64_t layers, std::int64_t width, std::int64_t kv_width,
                               std::int64_t hidden, std::int64_t vocabulary) {
  const std::int64_t layer = 2 * width * (width + kv_width) + 3 * width * hidden + 2 * width;
  return vocabulary * width + layers * layer + width;
}

}  // namespace

TEST_CASE("networks have as many parameters as their papers and torchvision say") {
  CHECK(weights("lenet") == 61'706);
  CHECK(weights("deep-mnist") == 3'274'634);
  CHECK(weights("alexnet") == 61'100'840);
  CHECK(weights("vgg-11") == 132'863'336);
  CHECK(weights("vgg-13") == 133'047'848);
  CHECK(weights("vgg-16") == 138'357'544);
  CHECK(weights("vgg-19") == 143'667'240);
  CHECK(weights("resnet-18") == 11'689'512);
  CHECK(weights("resnet-34") == 21'797'672);
  CHECK(weights("resnet-50") == 25'557'032);
  CHECK(weights("resnet-101") == 44'549'160);
  CHECK(weights("resnet-152") == 60'192'808);
  CHECK(weights("squeezenet-1.0") == 1'248'424);
  CHECK(weights("squeezenet-1.1") == 1'235'496);
  CHECK(weights("mobilenet-v1") == 4'231'976);
  CHECK(weights("inception-v1") == 6'624'904);
  CHECK(weights("densenet-121") == 7'978'856);
  CHECK(weights("densenet-169") == 14'149'480);
  CHECK(weights("densenet-201") == 20'013'928);
}

TEST_CASE("networks have as many parameters as their layers add up to") {
  CHECK(weights("mlp") == (784 + 1) * 800 + (800 + 1) * 10);
  CHECK(weights("mlp", {{"layers", 3}, {"width", 50}, {"classes", 7}}) ==
        (784 + 1) * 50 + 2 * (50 + 1) * 50 + (50 + 1) * 7);
  CHECK(weights("mlp", {{"layers", 0}}) == (784 + 1) * 10);
  for (const std::int64_t n : {3, 5, 7, 9, 18}) {
    CHECK(weights("resnet-" + std::to_string(6 * n + 2)) == cifar_resnet(n));
  }
  CHECK(weights("wide-resnet") == wide_resnet(4, 10));
  CHECK(weights("wide-resnet", {{"depth", 16}, {"width", 4}}) == wide_resnet(2, 4));
  CHECK(weights("transformer-encoder") == transformer(6, 512, 2048, 37'000));
  CHECK(weights("decoder") == decoder(4, 256, 128, 688, 4096));
  CHECK(weights("decoder", {{"layers", 1}, {"tied", false}}) ==
        decoder(1, 256, 128, 688, 4096) + 4096 * 256);
  CHECK(weights("lstm-language-model") == lstm(2, 650, 10'000));
  CHECK(weights("lstm-language-model", {{"layers", 1}, {"width", 20}, {"vocabulary", 30}}) ==
        lstm(1, 20, 30));
}

TEST_CASE("the sums that parameters are held against are the published sizes") {
  CHECK(cifar_resnet(3) == Approx(0.27e6).margin(0.005e6));
  CHECK(cifar_resnet(5) == Approx(0.46e6).margin(0.005e6));
  CHECK(cifar_resnet(7) == Approx(0.66e6).margin(0.005e6));
  CHECK(cifar_resnet(9) == Approx(0.85e6).margin(0.005e6));
  CHECK(cifar_resnet(18) == Approx(1.7e6).margin(0.05e6));
  CHECK(decoder(30, 576, 192, 1536, 49152) == 134'515'008);  // SmolLM2-135M
  CHECK(wide_resnet(4, 10) == Approx(36.5e6).margin(0.05e6));
  CHECK(wide_resnet(2, 8) == Approx(11.0e6).margin(0.05e6));
  CHECK(lstm(2, 650, 10'000) == Approx(20e6).margin(0.5e6));
}

TEST_CASE("options that fit no network are refused") {
  CHECK_THROWS_WITH(models().at("wide-resnet").make({{"depth", 27}}),
                    Catch::Contains("27") && Catch::Contains("28"));
  CHECK_THROWS_WITH(models().at("transformer-encoder").make({{"heads", 7}}),
                    Catch::Contains("512") && Catch::Contains("7"));
  CHECK_THROWS_AS(models().at("lstm-language-model").make({{"classes", 3}}), NotFound);
}

TEST_CASE("the same seed gives the same weights, another seed others") {
  const auto first = [](std::uint64_t seed) {
    Network network = models().at("lenet").make({{"seed", seed}});
    return network.parameter("conv1.weight").value.span<float>()[0];
  };
  CHECK(first(1) == first(1));
  CHECK(first(1) != first(2));
}

TEST_CASE("a network for another number of classes answers with as many logits") {
  auto executor = make_executor(models().at("lenet").make({{"classes", 3}}));
  const auto& outputs =
      executor->inference({{"image", Tensor::zeros(DType::float32, {2, 1, 28, 28})}});
  CHECK(outputs.at("logits").tensor().shape() == Shape{2, 3});
}

TEST_CASE("an unknown network is answered with the nearest") {
  CHECK_THROWS_WITH(models().at("resnet50"), Catch::Contains("resnet-50"));
}

TEST_CASE("the networks of the shared data load, plan, run and match, in the newest opset too") {
  const char* data = std::getenv("D5_DATA_DIR");
  if (!data) {
    WARN("skipped: D5_DATA_DIR is not set");
    return;
  }
  // VGG-19 and ResNet-50 are among the conformance cases; these two keep the test short.
  for (const char* name : {"squeezenet", "bvlc_alexnet"}) {
    for (const TransformChain& chain : {TransformChain{}, TransformChain{{"opset"}}}) {
      const auto records =
          test_folder(std::string(data) + "/onnx-light/" + name, {}, {}, {}, chain);
      REQUIRE_FALSE(records.empty());
      for (const auto& record : records) {
        INFO(record.subject << to_line(chain) << ": " << record.reason);
        CHECK(record.status == Status::passed);
      }
    }
  }
}
