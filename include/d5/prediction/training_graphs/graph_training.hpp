// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "d5/prediction/graph/operation_graph.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5 {

/// The graph of a training step on rank 0 (all ranks are alike), before its rules are priced.
/// Strategies rewrite it.
///
/// An operation of the exchange has the attribute "bucket" and, if it stands for several buckets,
/// "last_bucket". A forward piece has the same attributes for the buckets of its own parameters.
struct PlannedGraph {
  OperationGraph graph;
  std::int64_t ranks = 1;
  CostModel cost;  ///< prices rules, for strategies that need end times
  /// Whether the next step's forward pieces wait only for their own parameters instead of the end
  /// of the step.
  bool waits_for_own = false;
};
using GraphRewrite = std::function<void(PlannedGraph& plan)>;

/// A chain of `steps` copies of the step; ids are new, names the same.
[[nodiscard]] OperationGraph unrolled(const PlannedGraph& plan, int steps);

/// Predicts the steady state of a long training, in which the next step may begin before the end of
/// the last. `seconds` is the time between the ends of two steps; `alpha` and `exposed` are those
/// of a single step. Throws: as `price`.
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
