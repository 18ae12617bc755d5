// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/schemes/parameter_server/served_optimizer.hpp"

namespace d5::testing {

inline Network lenet() { return models().at("lenet").make({{"seed", 4}, {"with_loss", true}}); }

/// A rule, with a modifier that changes something within a few steps.
inline std::shared_ptr<ThreeStepOptimizer> rule_of(const std::string& rule,
                                                   const std::string& modifier = "",
                                                   const Settings& settings = {},
                                                   Network (*network)() = lenet) {
  auto local = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers().at(rule).make(make_executor(network()), "loss", settings));
  REQUIRE(local);
  const Settings of_modifier = modifier == "clip_norm"    ? Settings{{"most", 0.1}}
                               : modifier == "loss_scale" ? Settings{{"initial", 4}}
                               : modifier == "ema"        ? Settings{{"decay", 0.5}}
                               : modifier == "lookahead"  ? Settings{{"every", 2}}
                                                          : Settings{};
  if (!modifier.empty()) local->add(step_modifiers().at(modifier).make(of_modifier));
  return local;
}

inline std::shared_ptr<DistributedOptimizer> scheme_of(
    const std::string& scheme, const Settings& settings, std::shared_ptr<ThreeStepOptimizer> rule,
    std::shared_ptr<Communicator> ranks = world()) {
  return distributed_optimizers().at(scheme).make(std::move(rule), std::move(ranks), settings);
}

/// Samples of one of the workers in a step.
inline Batch batch_of(int step, int worker, int workers) {
  RandomStream random(17, static_cast<std::uint32_t>(100 * step + worker));
  Tensor image = Tensor::empty(DType::float32, {2, 1, 28, 28});
  Tensor label = Tensor::empty(DType::int64, {2});
  for (auto& pixel : image.span<float>()) pixel = random.uniform();
  for (auto& value : label.span<std::int64_t>()) value = std::int64_t(random.below(10));
  Batch batch;
  batch.values["image"] = image;
  batch.values["label"] = label;
  batch.size = 2;
  batch.global_size = 2 * workers;
  return batch;
}

inline std::vector<float> values_of(Network& network) {
  const Tensor all = network.parameter_arena();
  return {all.data<float>(), all.data<float>() + all.elements()};
}

/// Runs `work` on workers, and serves on the other ranks.
inline void drive(DistributedOptimizer& scheme, bool works, const std::function<void()>& work) {
  auto& served = dynamic_cast<detail::ServedOptimizer&>(scheme);
  if (!works) return served.serve();
  work();
  served.leave();
}

/// The largest difference of two lists relative to the largest element.
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, double(std::abs(a[i] - b[i])));
    largest = std::max(largest, double(std::abs(b[i])));
  }
  return worst / largest;
}

inline bool same_on(Communicator& ranks, const std::vector<float>& mine) {
  Tensor first = Tensor::vector(mine);
  ranks.broadcast(first, 0);
  return std::memcmp(first.raw(), mine.data(), first.bytes()) == 0;
}

}  // namespace d5::testing
