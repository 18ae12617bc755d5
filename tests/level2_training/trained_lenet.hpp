// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <utility>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::test {

/// LeNet after three steps on drawn images, and the losses on the way.
inline std::pair<Network, std::vector<float>> trained_lenet(const char* optimizer,
                                                            ExecutorOptions options) {
  Network network = models().at("lenet").make({{"seed", 3}, {"with_loss", true}});
  auto trainer = optimizers().at(optimizer).make(make_executor(network, std::move(options)), "loss",
                                                 Settings("optimizer"));
  std::vector<float> losses;
  for (std::uint64_t step = 0; step < 3; ++step) {
    RandomStream random(step);
    Tensor image = Tensor::empty(DType::float32, {8, 1, 28, 28});
    for (float& value : image.span<float>()) value = random.normal();
    Tensor label = Tensor::empty(DType::int64, {8});
    for (auto& value : label.span<std::int64_t>()) value = std::int64_t(random.below(10));
    const Batch batch{.values = {{"image", image}, {"label", label}}, .size = 8};
    losses.push_back(trainer->step(batch).at("loss").tensor().item<float>());
  }
  return {network, losses};
}

/// On `device` LeNet's losses and parameters have the bits that they have with `host`.
inline void check_trains_alike(const char* optimizer, ExecutorOptions host,
                               ExecutorOptions device) {
  INFO(optimizer);
  auto [expected, expected_losses] = trained_lenet(optimizer, std::move(host));
  auto [got, losses] = trained_lenet(optimizer, std::move(device));
  CHECK(losses == expected_losses);
  for (std::size_t i = 0; i < expected.parameters().size(); ++i) {
    const Tensor a = expected.parameters()[i].value.copy(Device{});
    const Tensor b = got.parameters()[i].value.copy(Device{});
    CHECK(std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
  }
}

}  // namespace d5::test
