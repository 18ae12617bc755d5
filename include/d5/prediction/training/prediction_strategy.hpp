// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/prediction/training/simulated_training.hpp"

namespace d5 {

/// A training and the network that it runs on, before they are simulated.
struct PlannedTraining {
  SimulatedTrainingOptions training = {};
  NetworkDescription network = {};
};

/// What might be done otherwise: other buckets, a faster machine. Several are applied one after the
/// other.
class PredictionStrategy {
 public:
  virtual ~PredictionStrategy() = default;
  virtual void apply(PlannedTraining& plan) const = 0;
};

using PredictionStrategyEntry = Entry<std::shared_ptr<PredictionStrategy>()>;
/// By name; src/prediction/training/strategies has the built-in ones.
///
///     PlannedTraining plan{options, network};
///     prediction_strategies().at("compute").make({{"factor", 2}})->apply(plan);
[[nodiscard]] Registry<PredictionStrategyEntry>& prediction_strategies();

/// All of `chain`, in its order. Throws: NotFound, ValueError.
void apply_strategies(std::span<const EntryChoice> chain, PlannedTraining& plan);

}  // namespace d5
