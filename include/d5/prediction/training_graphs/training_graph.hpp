// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level3_distributed/exchange/gradient_bucket.hpp"
#include "d5/prediction/graph/operation_graph.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

/// The graph of one step on one rank: its pieces in order, each after the framework's overhead
/// before it (kind "overhead"). Loading is on the lane "loader", everything else on "compute". A
/// piece that makes gradients final has the attributes "bytes" (their size) and "gradients" (their
/// number).
///
///     schedule(one_rank_graph(profile, 16)).seconds;  // step_times(profile, 16).step
///
/// Throws: as `step_times`.
[[nodiscard]] OperationGraph one_rank_graph(const TrainingProfile& profile, std::int64_t batch);

enum class Copies {
  none,
  own_engine,      ///< a copy engine for each direction: lanes "copy out" and "copy in"
  network_thread,  ///< copies by the thread that runs the all-reduces, one after the other
};
struct DataParallelOptions {
  std::int64_t batch = 1;  ///< per rank
  std::int64_t ranks = 1;
  BucketSizes buckets = {};        ///< `least` 0: one bucket per gradient
  std::string algorithm = "ring";  ///< known to `closed_seconds` or another cost model
  Copies copies = Copies::none;    ///< copies of each bucket to the host and back
  double negotiation_bytes = 0;    ///< size of a small all-reduce before each bucket; 0: none
};

/// The graph of a data-parallel training step on rank 0 (all ranks are alike). Each bucket of
/// gradients is all-reduced as soon as it is final, during backward, and parameters are updated
/// after their bucket's sum. All-reduces have rules and take no time until `price` is called. For
/// one rank it is `one_rank_graph`.
///
///     auto graph = data_parallel_graph(profile, {.batch = 32, .ranks = 8});
///     price(graph, closed_cost(load_cluster_description("ethernet-10g")));
///     predict_step(graph).seconds;
///
/// Throws: as `step_times`; ValueError for ranks below 1 or above 10^6.
[[nodiscard]] OperationGraph data_parallel_graph(const TrainingProfile& profile,
                                                 const DataParallelOptions& options);

/// Times of a scheduled step. Units: s.
struct StepPrediction {
  double seconds = 0;
  double compute = 0;  ///< from the beginning of the first forward to the end of the last backward
  double overlapped = 0;  ///< computation and communication (or copies) at the same time
  double exposed = 0;     ///< communication or copies without computation
  /// (end of last backward - start of first forward) / (end of last all-reduce - start of first
  /// forward); 1 without communication. n ranks are n times alpha as fast as one.
  /// Source: PerfEstimator (Shi et al., "PerfEstimator: A Generic and Extensible Performance
  /// Estimator for Data Parallel DNN Training", 2021).
  double alpha = 1;
};
[[nodiscard]] StepPrediction predict_step(const OperationGraph& graph);

}  // namespace d5
