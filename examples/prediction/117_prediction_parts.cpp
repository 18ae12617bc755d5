// SPDX-License-Identifier: Apache-2.0
// A custom network, strategy and kind of operation: a hub that one message passes at a time, and
// training that writes its parameters to a disk after each step.
#include <algorithm>
#include <deque>
#include <iostream>
#include <vector>

#include "d5/d5.hpp"

namespace {

/// Transmits one message at a time, from any sender.
class Hub final : public d5::SimulatedNetwork {
 public:
  Hub(const d5::ClusterDescription& cluster, int ranks) : network_(cluster) {
    d5::expect_places(cluster, ranks);
  }
  void start(const d5::SimulatedMessage& message, double now) override {
    const double sent = std::max(now, free_) + double(message.bytes) / network_.bandwidth.value;
    free_ = sent;
    changes_.push_back({message.id, What::sent, sent});
    // The next message may be in flight before this one arrives.
    changes_.push_back({message.id, What::arrived, sent + network_.latency.value});
    std::ranges::stable_sort(changes_, {}, &Change::time);
  }
  bool advance(double limit, std::vector<Change>& changes) override {
    if (changes_.empty() || changes_.front().time > limit) return false;
    changes = {changes_.front()};
    changes_.pop_front();
    return true;
  }

 private:
  d5::ClusterDescription network_;
  double free_ = 0;
  std::deque<Change> changes_;
};

struct DiskOptions {
  double seconds = 0.01;
  void declare(d5::OptionList& options) {
    options.add("seconds", seconds, "time to write all parameters", {.least = 0});
  }
};

/// Writes after the last update and before the end of the step.
class WrittenEachStep final : public d5::PredictionStrategy {
 public:
  using Options = DiskOptions;
  explicit WrittenEachStep(const Options& options) : options_(options) {}
  void apply(d5::PlannedTraining& plan) const override {
    plan.training.rewrites.push_back({[seconds = options_.seconds](d5::PlannedGraph& plan) {
      const auto updates =
          plan.graph.find([](const d5::Operation& each) { return each.kind == "update"; });
      plan.graph.add({"parameters", "checkpoint", plan.graph.lane(0, "disk"), seconds}, updates);
    }});
  }

 private:
  Options options_;
};

}  // namespace

int main() {
  using namespace d5;
  simulated_networks().add("hub", SimulatedNetworkEntry::of<Hub>("one message at a time"));
  operation_kinds().add("checkpoint", {"writes parameters to a disk", "disk"});
  prediction_strategies().add(
      "disk", PredictionStrategyEntry::of<WrittenEachStep>("parameters to a disk, each step"));

  const TrainingProfile profile = profile_from_cost("lenet", {.batch = 8, .step_seconds = 0.1});
  const ClusterDescription cluster = load_cluster_description("ethernet-10g");
  ScalingPredictionOptions options{.ranks = {1, 4}, .what_helps = false, .training = {.batch = 8}};
  std::vector<PredictedCurve> curves;
  const auto predict = [&](const std::string& strategy) {
    PredictedCurve& curve = curves.emplace_back();
    curve.model = profile.model;
    curve.cluster = cluster.name;
    curve.strategy = strategy;
    curve.points = predict_scaling(profile, cluster, options);
    return curve.points.back().step;
  };
  const double ports = predict("ports");
  options.training.simulation.model = {"hub"};
  const double hub = predict("hub");

  PlannedTraining plan{options.training, cluster};
  const EntryChoice disk{"disk", {{"seconds", 0.02}}};
  apply_strategies({&disk, 1}, plan);
  options.training = plan.training;
  const double written = predict("disk");
  std::cout << prediction_table(curves).to_text(Format::table);

  // The graph uses the network of closed formulas, and 20 ms follow everything else.
  return hub > ports && written > 0.12 && written < 0.13 ? 0 : 1;
}
