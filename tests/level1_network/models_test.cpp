// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/models.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "d5/core/error.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/network_validation.hpp"

namespace {

std::int64_t weights(const std::string& model) {
  d5::Network network = d5::models().at(model).make({});
  std::int64_t count = 0;
  for (const auto& parameter : network.parameters()) count += parameter.value.elements();
  return count;
}

}  // namespace

TEST_CASE("built-in networks have as many parameters as their papers and torchvision say") {
  CHECK(weights("lenet") == 61'706);
  CHECK(weights("alexnet") == 61'100'840);
  CHECK(weights("resnet-18") == 11'689'512);
  CHECK(weights("resnet-50") == 25'557'032);
}

TEST_CASE("the same seed gives the same weights, another seed others") {
  const auto first = [](std::uint64_t seed) {
    d5::Network network = d5::models().at("lenet").make({{"seed", seed}});
    return network.parameter("conv1.weight").value.span<float>()[0];
  };
  CHECK(first(1) == first(1));
  CHECK(first(1) != first(2));
}

TEST_CASE("a network for another number of classes answers with as many logits") {
  auto executor = d5::make_executor(d5::models().at("lenet").make({{"classes", 3}}));
  const auto& outputs =
      executor->inference({{"image", d5::Tensor::zeros(d5::DType::float32, {2, 1, 28, 28})}});
  CHECK(outputs.at("logits").tensor().shape() == d5::Shape{2, 3});
}

TEST_CASE("an unknown network is answered with the nearest") {
  CHECK_THROWS_WITH(d5::models().at("resnet50"), Catch::Contains("resnet-50"));
}

TEST_CASE("the networks of the shared data load, plan, run and match") {
  const char* data = std::getenv("D5_DATA_DIR");
  if (!data) {
    WARN("skipped: D5_DATA_DIR is not set");
    return;
  }
  // VGG-19 and ResNet-50 are among the conformance cases; these two keep the test short.
  for (const char* name : {"squeezenet", "bvlc_alexnet"}) {
    const auto records = d5::test_folder(std::string(data) + "/onnx-light/" + name, {});
    REQUIRE_FALSE(records.empty());
    for (const auto& record : records) {
      INFO(record.subject << ": " << record.reason);
      CHECK(record.status == d5::Status::passed);
    }
  }
}
