// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "tests/level3_distributed/this_rank.hpp"

namespace d5::testing {

inline Network lenet() { return models().at("lenet").make({{"seed", 3}, {"with_loss", true}}); }

inline std::shared_ptr<ThreeStepOptimizer> momentum(const Network& network) {
  return std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers()
          .at("momentum")
          .make(make_executor(network), "loss", Settings("test", {{"learning_rate", "0.05"}})));
}

/// Different samples on each rank.
inline Batch batch_of(int step) {
  RandomStream random(std::uint64_t(100 * step + this_rank));
  Tensor image = Tensor::empty(DType::float32, {4, 1, 28, 28});
  Tensor label = Tensor::empty(DType::int64, {4});
  for (auto& pixel : image.span<float>()) pixel = random.uniform();
  for (auto& one : label.span<std::int64_t>()) one = std::int64_t(random.below(10));
  Batch batch;
  batch.values = {{"image", image}, {"label", label}};
  batch.size = 4;
  return batch;
}

}  // namespace d5::testing
