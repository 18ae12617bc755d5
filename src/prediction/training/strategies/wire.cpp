// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::prediction_strategy {
namespace {

struct WireStrategyOptions {
  double bandwidth = 1, latency = 1;
  void declare(OptionList& options) {
    options.add("bandwidth", bandwidth, "factor on the bandwidth, between and within hosts",
                {.above = 0});
    options.add("latency", latency, "factor on the latency and on the overhead per message",
                {.least = 0});
  }
};

/// Scales bandwidth and latency of the network.
class Wire final : public PredictionStrategy {
 public:
  using Options = WireStrategyOptions;
  explicit Wire(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    ClusterDescription& cluster = plan.cluster;
    for (auto* figure : {&cluster.bandwidth, &cluster.host_bandwidth}) {
      figure->value *= options_.bandwidth;
    }
    for (auto* figure : {&cluster.latency, &cluster.host_latency, &cluster.overhead}) {
      figure->value *= options_.latency;
    }
    for (ClusterLevel& level : cluster.levels) level.latency *= options_.latency;
    for (ClusterSegment& segment : cluster.segments) {
      segment.bandwidth *= options_.bandwidth;
      segment.latency *= options_.latency;
    }
  }

 private:
  Options options_;
};

}  // namespace

void register_wire(Registry<PredictionStrategyEntry>& registry) {
  registry.add("wire",
               PredictionStrategyEntry::of<Wire>("network of another bandwidth and latency"));
}

}  // namespace d5::prediction_strategy
