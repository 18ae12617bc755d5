// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::prediction_strategy {
namespace {

using Id = OperationGraph::Id;

struct PriorityOptions {
  std::int64_t bytes = std::int64_t{4} << 20;
  void declare(OptionList& options) {
    options.add("bytes", bytes,
                "partition size in bytes, after which a more urgent bucket may go first",
                {.least = 1, .unit = "byte"});
  }
};

/// Gradients needed first in the next step have the highest priority. They are sent in partitions,
/// between which urgent ones overtake others, and the next step begins before all have arrived.
class Priority final : public PredictionStrategy {
 public:
  using Options = PriorityOptions;
  explicit Priority(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    plan.training.rewrites.push_back({[options = options_](PlannedGraph& graph) {
      rewrite(graph, static_cast<double>(options.bytes));
    }});
  }

 private:
  static void rewrite(PlannedGraph& plan, double most) {
    OperationGraph& graph = plan.graph;
    Id last_backward = OperationGraph::kNone;
    for (const Id id : graph.ids()) {
      const Operation& operation = graph.operation(id);
      if (operation.kind == "backward") last_backward = id;
      const BucketRange buckets = buckets_of(operation);
      if (!operation.rule || buckets.first < 0) continue;
      graph.edit(id).priority = buckets.last;  // the first layers' gradients are final last
      const double parts = std::ceil(operation.rule->bytes / most);
      if (operation.kind == "all_reduce" && parts > 1) {
        graph.split(id, std::vector<double>(static_cast<std::size_t>(parts), 1 / parts));
      }
    }
    if (last_backward != OperationGraph::kNone) free_updates(graph, last_backward);
    plan.waits_for_own = true;
  }

  /// Makes each update wait only for the sum of its own gradients and the end of backpropagation.
  static void free_updates(OperationGraph& graph, Id last_backward) {
    for (const Id id : graph.ids()) {
      if (graph.operation(id).kind != "update") continue;
      Id begin = id;  // with the framework overhead before it
      const std::vector<Id> before = graph.predecessors(id);
      for (const Id other : before) {
        if (graph.operation(other).kind == "overhead") begin = other;
      }
      const std::vector<Id> chain = graph.predecessors(begin);
      for (const Id other : chain) {
        if (graph.operation(other).kind == "update") graph.remove_edge(other, begin);
      }
      graph.add_edge(last_backward, begin);
    }
  }

  Options options_;
};

}  // namespace

/// Source: Peng et al., "A Generic Communication Scheduler for Distributed DNN Training
/// Acceleration" (ByteScheduler, SOSP 2019).
void register_priority(Registry<PredictionStrategyEntry>& registry) {
  registry.add("priority",
               PredictionStrategyEntry::of<Priority>(
                   "priority scheduling of partitioned gradients by first use (ByteScheduler)"));
}

}  // namespace d5::prediction_strategy
