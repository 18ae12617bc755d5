// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "d5/prediction/graph/operation_graph.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5 {

/// A step of training of rank 0 as a graph, all ranks being alike, before its rules have times:
/// what strategies change.
///
/// An operation of the exchange has the attributes "bucket" and, where it stands for several,
/// "last_bucket"; a forward piece the same of the buckets that its own parameters are in.
struct PlannedGraph {
  OperationGraph graph;
  std::int64_t ranks = 1;
  CostModel cost;  ///< what makes seconds of rules, for who has to know when something ends
  /// Whether the next step's forward pieces wait for their own parameters alone, and not for the
  /// end of the step.
  bool waits_for_own = false;
};
using GraphRewrite = std::function<void(PlannedGraph& plan)>;

/// `steps` of it one after the other: ids are new, names the same.
[[nodiscard]] OperationGraph unrolled(const PlannedGraph& plan, int steps);

/// The last of some steps: what a step of a long training takes, of which the next begins when it
/// may. `seconds` is the time between the ends of two; `alpha` and what is exposed are those of a
/// step alone. Throws: as `price`.
[[nodiscard]] StepPrediction predict_steady_step(PlannedGraph plan);

/// The buckets of an operation, first and last; -1: none.
struct BucketRange {
  std::int64_t first = -1, last = -1;
  [[nodiscard]] bool meets(const BucketRange& other) const {
    return first >= 0 && other.first >= 0 && first <= other.last && other.first <= last;
  }
};
[[nodiscard]] BucketRange buckets_of(const Operation& operation);
void set_buckets(Operation& operation, BucketRange buckets);

}  // namespace d5
