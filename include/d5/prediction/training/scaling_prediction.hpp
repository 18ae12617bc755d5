// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/prediction/training/simulated_training.hpp"

namespace d5 {

/// How the batch grows with the ranks.
enum class PredictedScaling {
  weak,   ///< each rank has the batch
  strong  ///< all ranks share it
};

struct ScalingPredictionOptions {
  std::vector<int> ranks = {1, 2, 4, 8};
  PredictedScaling scaling = PredictedScaling::weak;
  bool what_helps = true;  ///< three more simulations a point: a faster machine, wire, latency
  /// `batch` is that of the scaling; the rest as of one simulation.
  SimulatedTrainingOptions training = {};
  Interrupt interrupt = {};
  std::function<void(int ranks)> on_point = {};  ///< called after each
};

/// What one of `ranks` has. Throws: ValueError for a batch that they cannot share.
[[nodiscard]] std::int64_t batch_of_rank(const ScalingPredictionOptions& options, int ranks);

/// One number of ranks. Units: s, bytes, samples a second.
struct PredictedPoint {
  int ranks = 1;
  std::int64_t batch = 0;  ///< of a rank
  double step = 0;
  /// Of the profile's steps, resampled, on a network as fast and as slow as its spread says.
  Interval step_interval{0, 0};
  double baseline = 0;    ///< step by closed formulas (`closed_cost`); NaN: there are none
  double throughput = 0;  ///< of all ranks
  double efficiency = 1;  ///< throughput over ranks times that of the smallest number
  double alpha = 1, computed = 0, exposed = 0;
  std::int64_t bytes = 0;  ///< that rank 0 sends in a step
  std::string bound_by;    ///< "computing", "bandwidth", "latency": what would help most
  double gain = 0;         ///< of a step, were that twice as good; 0: not tried
  std::string mistrusted;  ///< why; empty: no reason
  /// Steps on so many real ranks, in s; of several launches the median of each. Empty: none.
  std::vector<double> measured;
};

/// The scaling curve of a profiled training on a network, point by point. An interrupt, and a
/// simulation that comes to the end of its budget, end it with the points that it has.
///
/// Throws: as `simulate_training`; ValueError for no ranks, fewer than 1 or more than 10^6, a batch
/// that ranks cannot share; Interrupted before the first point.
[[nodiscard]] std::vector<PredictedPoint> predict_scaling(const TrainingProfile& profile,
                                                          const NetworkDescription& network,
                                                          const ScalingPredictionOptions& options);

/// Tells every point how much of perfect scaling from the first of them it has.
void set_efficiencies(std::vector<PredictedPoint>& points);

/// "1,2,4", and "1..128" for the powers of two from the first to the second, and the second.
/// Throws: ValueError for anything else.
[[nodiscard]] std::vector<int> ranks_from(const std::string& words);

}  // namespace d5
