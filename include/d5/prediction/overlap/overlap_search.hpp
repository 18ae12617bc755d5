// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/overlap/overlap_grid.hpp"

namespace d5 {

/// A candidate setting of the gradient exchange: resources of each all-reduce, and minimum bucket
/// size.
struct OverlapCandidate {
  std::string resources = "default";  ///< `resources_of`
  std::int64_t bucket_bytes = 0;      ///< 0: the scheme's default
  [[nodiscard]] std::string name() const;
};

struct OverlapSearchOptions {
  std::vector<std::string> models;
  std::int64_t batch = 16;  ///< per rank
  /// The first one is the baseline.
  std::vector<OverlapCandidate> candidates = {{}};
  std::string all_reduce = "node_memory", framework = "reference";
  int rounds = 30;  ///< each times a block of steps of every candidate, in rotating order
  int steps_per_block = 2;
  double most_seconds = 0;  ///< limit for all models, shared equally; 0: none
  std::string out = {};     ///< results file, on rank 0; empty: none
  bool resume = false;      ///< continue after the rounds in `out`
  std::string command = {};
  Interrupt interrupt = {};
  std::function<void(const std::string&)> say = {};
};

/// Trains each model with every candidate, interleaved in blocks of steps, with the momentum
/// optimizer on generated data. Each candidate gets a record "step_time", with samples paired to
/// the other candidates', and records of the parts of rank 0's step ("compute_only", "overlap",
/// "communication_only", "idle").
///
/// A collective; only rank 0 returns records.
/// Throws: ValueError without models or candidates; NotFound; exceptions of training.
[[nodiscard]] std::vector<Measurement> overlap_search(const OverlapSearchOptions& options,
                                                      Communicator& ranks);

/// Throughput and paired gain of each record "step_time". Throws: ValueError if there is none.
[[nodiscard]] OverlapGrid overlap_grid_of(const std::vector<Measurement>& records);
/// Medians of the parts of rank 0's step, one row per model and candidate.
[[nodiscard]] TextTable overlap_parts_table(const std::vector<Measurement>& records);

}  // namespace d5
