// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstring>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/on_toy.hpp"
#include "tests/temporary_folder.hpp"

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
std::pair<Network, std::vector<float>> trained_on_device(const char* optimizer,
                                                         ExecutorOptions options) {
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
    auto [expected, expected_losses] = trained_on_device(optimizer, {});
    auto [got, losses] = trained_on_device(optimizer, {.frameworks = {"toy"}, .device = toy()});
    CHECK(losses == expected_losses);
    for (std::size_t i = 0; i < expected.parameters().size(); ++i) {
      const Tensor a = expected.parameters()[i].value.copy(Device{});
      const Tensor b = got.parameters()[i].value.copy(Device{});
      CHECK(std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
    }
  }
}

TEST_CASE("training on a device goes on from its checkpoint to the same bits") {
  const testing::TemporaryFolder folder;
  const auto make = [] {
    return optimizers().at("adam").make(
        make_executor(d5::test::points_network(), {.frameworks = {"toy"}, .device = toy()}),
        "loss");
  };
  const auto values = [](Optimizer& optimizer) {
    std::vector<float> all;
    for (const Parameter& parameter : optimizer.executor().network().parameters()) {
      const Tensor here = parameter.value.copy(Device{});
      all.insert(all.end(), here.span<float>().begin(), here.span<float>().end());
    }
    return all;
  };
  const auto train = samplers().at("shuffle").make(d5::test::points(40), {{"batch_size", 6}});
  const auto whole = make(), first = make(), second = make();
  Trainer(*whole, *train, nullptr, {.epochs = 2}).run();
  Trainer(*first, *train, nullptr, {.epochs = 2, .most_batches = 5, .checkpoint = folder / "c"})
      .run();
  Trainer rest(*second, *train, nullptr, {.epochs = 2});
  rest.resume(folder / "c");
  rest.run();
  CHECK(values(*second) == values(*whole));
}
