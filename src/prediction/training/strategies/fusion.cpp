// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::prediction_strategy {
namespace {

using Id = OperationGraph::Id;

struct FusionOptions {
  std::int64_t bytes = std::int64_t{64} << 20, negotiation_bytes = 64;
  double cycle = 1e-3;
  void declare(OptionList& options) {
    options.add("bytes", bytes, "size of the fusion buffer", {.least = 1, .unit = "byte"});
    options.add("cycle", cycle, "cycle time in s between polls for ready gradients", {.above = 0});
    options.add("negotiation_bytes", negotiation_bytes,
                "bytes of the small all-reduce by which ranks agree on ready gradients",
                {.least = 0, .unit = "byte"});
  }
};

/// The sum of a gradient, and the time when the gradient is final.
struct Waiting {
  Id id = OperationGraph::kNone;
  double ready = 0;
};

/// Rewrites the graph, poll by poll.
class Looks {
 public:
  Looks(PlannedGraph& plan, const FusionOptions& options)
      : graph_(plan.graph), ranks_(plan.ranks), cost_(plan.cost), options_(options) {
    OperationGraph alone = graph_;  // computation only: sums take no time
    for (const Id id : alone.ids()) {
      if (operation_kinds().at(alone.operation(id).kind).communicates) alone.retime(id, 0);
    }
    const OperationSchedule times = schedule(alone);
    for (const Id id : graph_.ids()) {
      if (graph_.operation(id).kind != "all_reduce") continue;
      double ready = 0;
      for (const Id before : graph_.predecessors(id)) ready = std::max(ready, times.end[before]);
      waiting_.push_back({id, ready});
    }
    std::ranges::stable_sort(waiting_, {}, &Waiting::ready);
  }

  void take_all() {
    double look = 0;
    for (std::size_t next = 0; next < waiting_.size();) {
      if (waiting_[next].ready > look) {  // the first poll with a ready gradient
        look += options_.cycle * std::ceil((waiting_[next].ready - look) / options_.cycle);
        look = std::max(look, waiting_[next].ready);
      }
      std::size_t end = next;
      while (end < waiting_.size() && waiting_[end].ready <= look) ++end;
      const double busy = take(next, end, look);
      look = std::max(look + options_.cycle, look + busy);
      next = end;
    }
  }

 private:
  /// Handles the gradients [begin, end) that are ready at a poll: negotiation, then buffer after
  /// buffer. Returns: the time in s.
  double take(std::size_t begin, std::size_t end, double look) {
    const Waiting& last = waiting_[end - 1];
    const Operation first = graph_.operation(waiting_[begin].id);
    Id asks = OperationGraph::kNone;
    const std::vector<Id> before = graph_.predecessors(last.id);
    const std::size_t thread = graph_.lane(0, "fusion", 0);
    const Id waits = graph_.add({"until the next look", "overhead", thread, look - last.ready},
                                std::span<const Id>(before));
    Operation agreement{"agreement", "negotiation", first.lane};
    agreement.rule =
        CostRule{first.rule->algorithm, static_cast<double>(options_.negotiation_bytes), ranks_};
    double busy = cost_(agreement);
    asks = graph_.add(std::move(agreement), {waits});
    while (begin < end) {
      std::vector<Id> group{waiting_[begin].id};
      double bytes = graph_.operation(group.front()).rule->bytes;
      BucketRange buckets = buckets_of(graph_.operation(group.front()));
      for (++begin; begin < end; ++begin) {
        const Operation& one = graph_.operation(waiting_[begin].id);
        if (bytes + one.rule->bytes > static_cast<double>(options_.bytes)) break;
        bytes += one.rule->bytes;
        group.push_back(waiting_[begin].id);
        buckets.last = std::max(buckets.last, buckets_of(one).last);
      }
      const Id fused = graph_.merge(group);
      graph_.add_edge(asks, fused);
      set_buckets(graph_.edit(fused), buckets);
      busy += cost_(graph_.operation(fused));
    }
    return busy;
  }

  OperationGraph& graph_;
  std::int64_t ranks_;
  const CostModel& cost_;
  FusionOptions options_;
  std::vector<Waiting> waiting_;
};

/// Horovod's tensor fusion: a thread periodically polls for ready gradients, negotiates with other
/// ranks, and sums the contents of a buffer at once. It polls again after a cycle, or when all sums
/// are done.
class Fusion final : public PredictionStrategy {
 public:
  using Options = FusionOptions;
  explicit Fusion(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    plan.training.scheme.settings.set("bucket_bytes", 1);  // one bucket per gradient
    plan.training.rewrites.push_back({[options = options_](PlannedGraph& graph) {
      if (graph.ranks > 1) Looks(graph, options).take_all();
    }});
  }

 private:
  Options options_;
};

}  // namespace

/// Source: Sergeev and Del Balso, "Horovod: fast and easy distributed deep learning in TensorFlow"
/// (2018); horovod/common/operations.cc, RunLoopOnce.
void register_fusion(Registry<PredictionStrategyEntry>& registry) {
  registry.add("fusion",
               PredictionStrategyEntry::of<Fusion>(
                   "tensor fusion: gradients ready at the same time share a buffer (Horovod)"));
}

}  // namespace d5::prediction_strategy
