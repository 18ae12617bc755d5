// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training_graphs/graph_training.hpp"

#include <algorithm>
#include <vector>

#include "d5/prediction/graph/operation_kind.hpp"

namespace d5 {
namespace {

using Id = OperationGraph::Id;
constexpr const char *kFirstBucket = "bucket", *kLastBucket = "last_bucket";

/// A copy of the step in the unrolled graph: new ids by ids in the step.
using Copy = std::vector<Id>;

bool is_piece(const Operation& operation) {
  return operation.kind == "forward" || operation.kind == "backward" || operation.kind == "load" ||
         operation.kind == "overhead";
}

class Unrolling {
 public:
  Unrolling(const PlannedGraph& plan, int steps)
      : step_(plan.graph), order_(step_.order()), all_(step_.name()) {
    for (const OperationLane& lane : step_.lanes()) all_.lane(lane.rank, lane.name, lane.width);
    for (const Id id : order_) {
      if (step_.predecessors(id).empty()) begins_.push_back(id);
      if (step_.successors(id).empty()) ends_.push_back(id);
      const Operation& operation = step_.operation(id);
      if (operation.kind == "backward") last_backward_ = id;
      if (operation.kind == "forward" && first_forward_ == OperationGraph::kNone) {
        first_forward_ = id;
      }
    }
    Copy before;
    for (int i = 0; i < steps; ++i) {
      Copy copy = add_step();
      if (i > 0) plan.waits_for_own ? join_own(before, copy) : join_all(before, copy);
      before = std::move(copy);
    }
  }
  OperationGraph take() { return std::move(all_); }

 private:
  Copy add_step() {
    Copy copy(step_.id_end(), OperationGraph::kNone);
    for (const Id id : order_) {
      copy[id] = all_.add(step_.operation(id));
      for (const Id before : step_.predecessors(id)) all_.add_edge(copy[before], copy[id]);
    }
    return copy;
  }

  /// Makes everything in `copy` wait for everything in `before`.
  void join_all(const Copy& before, const Copy& copy) {
    for (const Id begin : begins_) {
      for (const Id end : ends_) all_.add_edge(before[end], copy[begin]);
    }
  }

  /// Makes a forward piece wait for the updates of its own parameters; the first piece also waits
  /// for updates without a known user.
  void join_own(const Copy& before, const Copy& copy) {
    for (const Id begin : begins_) {
      if (last_backward_ != OperationGraph::kNone) {
        all_.add_edge(before[last_backward_], copy[begin]);
      }
    }
    for (const Id id : order_) {
      const Operation& operation = step_.operation(id);
      if (is_piece(operation) || !is_last(id)) continue;
      const BucketRange buckets = buckets_of(operation);
      bool needed = false;
      for (const Id forward : order_) {
        if (step_.operation(forward).kind != "forward") continue;
        if (!buckets.meets(buckets_of(step_.operation(forward)))) continue;
        needed = true;
        join(before, id, copy[forward]);
      }
      if (!needed && first_forward_ != OperationGraph::kNone) {
        join(before, id, copy[first_forward_]);
      }
    }
  }

  /// Whether it is the last operation of a bucket's sum, or an update without a sum.
  bool is_last(Id id) const {
    const auto sums = [&](Id other) { return buckets_of(step_.operation(other)).first >= 0; };
    if (sums(id)) return std::ranges::none_of(step_.successors(id), sums);
    return step_.successors(id).empty() && std::ranges::none_of(step_.predecessors(id), sums);
  }

  /// Makes `to` wait for `id` and for the updates after it.
  void join(const Copy& before, Id id, Id to) {
    all_.add_edge(before[id], to);
    for (const Id next : step_.successors(id)) {
      if (step_.operation(next).kind == "update") all_.add_edge(before[next], to);
    }
  }

  const OperationGraph& step_;
  std::vector<Id> order_, begins_, ends_;
  Id last_backward_ = OperationGraph::kNone, first_forward_ = OperationGraph::kNone;
  OperationGraph all_;
};

}  // namespace

BucketRange buckets_of(const Operation& operation) {
  BucketRange range;
  for (const TraceArgument& attribute : operation.attributes) {
    const auto* number = std::get_if<std::int64_t>(&attribute.value);
    if (number && attribute.name == kFirstBucket) range.first = *number;
    if (number && attribute.name == kLastBucket) range.last = *number;
  }
  range.last = std::max(range.last, range.first);
  return range;
}

void set_buckets(Operation& operation, BucketRange buckets) {
  std::erase_if(operation.attributes, [](const TraceArgument& attribute) {
    return attribute.name == kFirstBucket || attribute.name == kLastBucket;
  });
  operation.attributes.push_back({kFirstBucket, buckets.first});
  if (buckets.last > buckets.first) operation.attributes.push_back({kLastBucket, buckets.last});
}

OperationGraph unrolled(const PlannedGraph& plan, int steps) {
  return Unrolling(plan, steps).take();
}

StepPrediction predict_steady_step(PlannedGraph plan) {
  constexpr int kFirst = 4, kMore = 4;  // the first steps find the network idle
  price(plan.graph, plan.cost);
  StepPrediction result = predict_step(plan.graph);
  if (!plan.waits_for_own) return result;  // steps do not overlap
  const auto end_of = [&](int steps) { return schedule(unrolled(plan, steps)).seconds; };
  result.seconds = (end_of(kFirst + kMore) - end_of(kFirst)) / kMore;
  return result;
}

}  // namespace d5
