// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::prediction_strategy {
namespace {

struct EngineOptions {
  EntryChoice model{"simgrid"};
  void declare(OptionList& options) {
    options.add("model", model, "network model", "simulated network");
  }
};

/// The same network with another network model.
class Engine final : public PredictionStrategy {
 public:
  using Options = EngineOptions;
  explicit Engine(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    (void)find_simulated_network(options_.model.name);  // throws for an unknown one
    plan.training.simulation.model = options_.model;
  }

 private:
  Options options_;
};

}  // namespace

void register_engine(Registry<PredictionStrategyEntry>& registry) {
  registry.add("engine", PredictionStrategyEntry::of<Engine>("another network model"));
}

}  // namespace d5::prediction_strategy
