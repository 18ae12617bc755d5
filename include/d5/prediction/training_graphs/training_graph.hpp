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

/// One step of one rank: its pieces one after the other, each behind what the framework does before
/// it (kind "overhead"). Loading is on the lane "loader", all else on "compute". A piece that makes
/// gradients final has the attributes "bytes", of these, and "gradients", how many.
///
///     schedule(one_rank_graph(profile, 16)).seconds;  // step_times(profile, 16).step
///
/// Throws: as `step_times`.
[[nodiscard]] OperationGraph one_rank_graph(const TrainingProfile& profile, std::int64_t batch);

enum class Copies {
  none,
  own_engine,      ///< one each way, beside the network: lanes "copy out" and "copy in"
  network_thread,  ///< by the thread that also runs the all-reduces, one after the other
};
struct DataParallelOptions {
  std::int64_t batch = 1;  ///< of each rank
  std::int64_t ranks = 1;
  BucketSizes buckets = {};        ///< least 0: a bucket for each gradient
  std::string algorithm = "ring";  ///< of `closed_seconds`, or whoever prices the graph
  Copies copies = Copies::none;    ///< of each bucket, to the host and back
  double negotiation_bytes = 0;    ///< of a small all-reduce before each bucket's; 0: none
};

/// A step of data-parallel training, where all ranks are alike: rank 0's graph, in which each
/// bucket of gradients is summed over all ranks as soon as it is final, while backward goes on, and
/// parameters are updated when their bucket's sum is there. Sums have rules and take no time until
/// `price` gives them theirs. Of one rank it is `one_rank_graph`.
///
///     auto graph = data_parallel_graph(profile, {.batch = 32, .ranks = 8});
///     price(graph, closed_cost(load_network_description("ethernet-10g")));
///     predict_step(graph).seconds;
///
/// Throws: as `step_times`; ValueError for ranks below 1 or above 10^6.
[[nodiscard]] OperationGraph data_parallel_graph(const TrainingProfile& profile,
                                                 const DataParallelOptions& options);

/// What a step's schedule says. Units: s.
struct StepPrediction {
  double seconds = 0;
  double compute = 0;  ///< from the beginning of the first forward to the end of the last backward
  double overlapped = 0;  ///< in which rank 0 computes and communicates (or copies)
  double exposed = 0;     ///< in which it communicates, or copies, and nothing else
  /// (end of last backward - start of first forward) / (end of last all-reduce - start of first
  /// forward); 1 without communication. n ranks are n times alpha as fast as one.
  /// Source: PerfEstimator (Shi et al., "PerfEstimator: A Generic and Extensible Performance
  /// Estimator for Data Parallel DNN Training", 2021).
  double alpha = 1;
};
[[nodiscard]] StepPrediction predict_step(const OperationGraph& graph);

}  // namespace d5
