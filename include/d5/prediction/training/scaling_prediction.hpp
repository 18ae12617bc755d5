// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/prediction/training/simulated_training.hpp"

namespace d5 {

/// Weak or strong scaling.
enum class PredictedScaling {
  weak,   ///< constant batch per rank
  strong  ///< constant total batch
};

struct PredictedPoint;

struct ScalingPredictionOptions {
  std::vector<int> ranks = {1, 2, 4, 8};
  PredictedScaling scaling = PredictedScaling::weak;
  /// Finds the bottleneck by three more simulations per point: computation, bandwidth, latency.
  /// By formula (`SimulatedTrainingOptions::by_formula`) it is always found.
  bool what_helps = false;
  /// `batch` is per rank or in total, by `scaling`; the other fields as for one simulation.
  /// A map adds `PredictedPoint::contended`; everything else is without contention.
  SimulatedTrainingOptions training = {};
  Interrupt interrupt = {};
  /// Called after each point.
  std::function<void(const PredictedPoint&)> on_point = {};
  /// Called once if a budget ends the curve, with the numbers of ranks left out and the reason.
  std::function<void(const std::string&)> on_left_out = {};
};

/// The batch of one rank. Throws: ValueError for a batch that does not divide among the ranks.
[[nodiscard]] std::int64_t batch_of_rank(const ScalingPredictionOptions& options, int ranks);

/// The prediction for one number of ranks. Units: s, bytes, samples/s.
struct PredictedPoint {
  int ranks = 1;
  std::int64_t batch = 0;  ///< per rank
  double step = 0;
  /// Interval of `step`: bootstrap over the profile's steps, on clusters at both ends of the
  /// cluster's spread.
  Interval step_interval{0, 0};
  double baseline = 0;    ///< step by closed formulas (`closed_cost`); NaN: none known
  double throughput = 0;  ///< all ranks together
  /// Throughput of one rank of the same profile, with the batch that it would have; NaN if that
  /// batch is outside the profiled range.
  double alone = 0;
  double efficiency = 1;  ///< throughput per rank relative to one rank's; NaN: unknown
  double alpha = 1;       ///< NaN: unknown, as of an execution trace
  double computed = 0, exposed = 0;
  std::int64_t bytes = 0;  ///< bytes that rank 0 sends in a step
  std::string bound_by;    ///< bottleneck: "computing", "bandwidth" or "latency"
  double gain = 0;  ///< time saved per step if the bottleneck were twice as good; 0: not tried
  std::string mistrusted;  ///< reason; empty: trusted
  /// The prediction with the overlap map (`SimulatedTrainingOptions::map`).
  struct Contended {
    double step = 0;
    double lacking = 0;           ///< share of the step's computation in kernels that the map lacks
    std::string mistrusted = {};  ///< reasons, besides those of the point; empty: none
  };
  std::optional<Contended> contended = {};  ///< without a map: nothing
  /// Measured steps on real ranks, in s; with several launches the median of each. Empty: none.
  std::vector<double> measured;
};

/// Predicts the scaling curve of a profiled training on a cluster, point by point. After an
/// interrupt, or if a simulation exceeds its budget (`on_left_out`), it returns the points so far.
///
/// Throws: as `simulate_training`; ValueError for an empty list, ranks outside 1 to 10^6, or a
/// batch that does not divide among the ranks; Interrupted before the first point.
[[nodiscard]] std::vector<PredictedPoint> predict_scaling(const TrainingProfile& profile,
                                                          const ClusterDescription& cluster,
                                                          const ScalingPredictionOptions& options);

/// Sets the efficiency of every point relative to one rank: the first point if it has one rank,
/// otherwise `PredictedPoint::alone`.
void set_efficiencies(std::vector<PredictedPoint>& points);

/// Parses "1,2,4" or "1..128": the powers of two times the first number, up to and including the
/// second. Throws: ValueError for other text, and for a first number above the second.
[[nodiscard]] std::vector<int> ranks_from(const std::string& words);

}  // namespace d5
