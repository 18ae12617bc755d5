// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/trained_lenet.hpp"
#include "tests/on_toy.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using d5::test::toy;

TEST_CASE("LeNet trains on a device with the reference's bits, under any optimizer of d5's") {
  for (const char* optimizer : {"sgd", "momentum", "adam"}) {
    d5::test::check_trains_alike(optimizer, {}, {.frameworks = {"toy"}, .device = toy()});
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
