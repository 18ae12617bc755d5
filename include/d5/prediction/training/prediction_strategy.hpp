// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/prediction/training/simulated_training.hpp"

namespace d5 {

/// A training and its cluster, before the simulation.
struct PlannedTraining {
  SimulatedTrainingOptions training = {};
  ClusterDescription cluster = {};
};

/// A what-if change of a prediction, such as other buckets or a faster machine. Strategies are
/// applied in order.
class PredictionStrategy {
 public:
  virtual ~PredictionStrategy() = default;
  virtual void apply(PlannedTraining& plan) const = 0;
};

using PredictionStrategyEntry = Entry<std::shared_ptr<PredictionStrategy>()>;
/// All strategies by name; src/prediction/training/strategies has the built-in ones.
///
///     PlannedTraining plan{options, cluster};
///     prediction_strategies().at("compute").make({{"factor", 2}})->apply(plan);
[[nodiscard]] Registry<PredictionStrategyEntry>& prediction_strategies();

/// Applies `chain` in order. Throws: NotFound, ValueError.
void apply_strategies(std::span<const EntryChoice> chain, PlannedTraining& plan);

}  // namespace d5
