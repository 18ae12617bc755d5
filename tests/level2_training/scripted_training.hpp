// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/level2_training/training/trainer.hpp"
#include "points.hpp"
#include "scripted_executor.hpp"

namespace d5::test {

/// A trainer whose steps have the given losses.
struct ScriptedTraining {
  explicit ScriptedTraining(std::vector<double> losses, TrainerOptions options = {})
      : optimizer(optimizers().at("sgd").make(
            std::make_unique<ScriptedExecutor>(
                std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({1}, {1})}},
                [losses](Network& network, std::int64_t step) {
                  network.parameter("w").gradient.span<double>()[0] = 1;
                  return losses.at(std::size_t(step));
                }),
            "loss", Settings("sgd"))),
        train(points_sampler(6, 2)),
        trainer(*optimizer, *train, nullptr, options) {}
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> train;
  Trainer trainer;
};

}  // namespace d5::test
