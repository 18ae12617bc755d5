// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstring>

#include "d5/core/random.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "tests/on_toy.hpp"

using namespace d5;
using d5::test::toy;

namespace {

Batch batch(std::uint64_t seed) {
  RandomStream random(seed);
  Tensor image = Tensor::empty(DType::float32, {8, 1, 28, 28});
  for (float& value : image.span<float>()) value = random.normal();
  Tensor label = Tensor::empty(DType::int64, {8});
  for (std::int64_t& value : label.span<std::int64_t>()) value = std::int64_t(random.below(10));
  return {.values = {{"image", image}, {"label", label}}, .size = 8};
}

/// LeNet after three steps with `options`, and the losses on the way.
std::pair<Network, std::vector<float>> trained(const char* optimizer, ExecutorOptions options) {
  Network network = models().at("lenet").make({{"seed", 3}, {"with_loss", true}});
  auto trainer = optimizers().at(optimizer).make(make_executor(network, std::move(options)), "loss",
                                                 Settings("optimizer"));
  std::vector<float> losses;
  for (std::uint64_t step = 0; step < 3; ++step) {
    losses.push_back(trainer->step(batch(step)).at("loss").tensor().item<float>());
  }
  return {network, losses};
}

}  // namespace

TEST_CASE("LeNet trains on a device with the reference's bits, under any optimizer of d5's") {
  for (const char* optimizer : {"sgd", "momentum", "adam"}) {
    INFO(optimizer);
    auto [expected, expected_losses] = trained(optimizer, {});
    auto [got, losses] = trained(optimizer, {.frameworks = {"toy"}, .device = toy()});
    CHECK(losses == expected_losses);
    for (std::size_t i = 0; i < expected.parameters().size(); ++i) {
      const Tensor a = expected.parameters()[i].value.copy(Device{});
      const Tensor b = got.parameters()[i].value.copy(Device{});
      CHECK(std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
    }
  }
}
