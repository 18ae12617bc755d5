// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::prediction_strategy {
namespace {

using Id = OperationGraph::Id;

struct ParameterServerOptions {
  std::int64_t shards = 1;
  void declare(OptionList& options) {
    options.add("shards", shards, "number of servers, which also train", {.least = 1});
  }
};

/// The scheme consistent_centralized: pushes gradients to servers when all are final, and pulls
/// parameters back. In the graph, one push and one pull of all gradients, through the port of a
/// server, replace the all-reduces; updates are between them.
class ParameterServer final : public PredictionStrategy {
 public:
  using Options = ParameterServerOptions;
  explicit ParameterServer(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    plan.training.scheme = {"consistent_centralized", {{"shards", options_.shards}}};
    plan.training.rewrites.push_back({[options = options_](PlannedGraph& graph) {
                                        if (graph.ranks > 1)
                                          rewrite(graph, static_cast<double>(options.shards));
                                      },
                                      true});
  }

 private:
  static void rewrite(PlannedGraph& plan, double shards) {
    OperationGraph& graph = plan.graph;
    std::vector<Id> sums, ends;
    Id last_backward = OperationGraph::kNone, last_update = OperationGraph::kNone;
    double bytes = 0;
    std::size_t lane = 0;
    for (const Id id : graph.ids()) {
      const Operation& operation = graph.operation(id);
      if (operation.kind == "backward") last_backward = id;
      if (operation.kind == "update") last_update = id;
      if (operation.kind != "all_reduce") continue;
      sums.push_back(id);
      bytes += operation.rule->bytes;
      lane = operation.lane;
    }
    // A server does not send its own gradients.
    const double others = static_cast<double>(plan.ranks - 1) / static_cast<double>(plan.ranks);
    const CostRule rule{"", others * bytes / shards, plan.ranks};
    const Id push = graph.add({"all gradients", "push", lane, 0, 0, rule}, {last_backward});
    for (const Id sum : sums) {
      for (const Id next : std::vector<Id>(graph.successors(sum))) {
        if (graph.operation(next).kind == "update") graph.add_edge(push, next);
      }
      graph.remove(sum);
    }
    graph.add({"all parameters", "pull", lane, 0, 0, rule},
              {last_update == OperationGraph::kNone ? push : last_update, push});
  }

  Options options_;
};

}  // namespace

/// Source: Li et al., "Scaling Distributed Machine Learning with the Parameter Server" (OSDI 2014).
void register_parameter_server(Registry<PredictionStrategyEntry>& registry) {
  registry.add("parameter_server", PredictionStrategyEntry::of<ParameterServer>(
                                       "parameter server (consistent_centralized)"));
}

}  // namespace d5::prediction_strategy
