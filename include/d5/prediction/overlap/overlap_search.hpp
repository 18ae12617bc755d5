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

/// One way to exchange gradients: resources of each all-reduce, and the least size of a bucket.
struct OverlapCandidate {
  std::string resources = "default";  ///< `resources_of`
  std::int64_t bucket_bytes = 0;      ///< 0: as the scheme has it
  [[nodiscard]] std::string name() const;
};

struct OverlapSearchOptions {
  std::vector<std::string> models;
  std::int64_t batch = 16;  ///< of each rank
  /// The first is what the others are held against.
  std::vector<OverlapCandidate> candidates = {{}};
  std::string all_reduce = "node_memory", framework = "reference";
  int rounds = 30;  ///< each times a block of steps of every candidate, in an order that turns
  int steps_per_block = 2;
  double most_seconds = 0;  ///< for all models: each ends with the rounds of its share; 0: no end
  std::string out = {};     ///< results file, on rank 0; empty: none
  bool resume = false;      ///< goes on with the rounds that `out` holds
  std::string command = {};
  Interrupt interrupt = {};
  std::function<void(const std::string&)> say = {};
};

/// Trains each model with every candidate, step block by step block, by momentum on data of its
/// own: a record "step_time" of each, whose samples were taken beside those of the others, and
/// records of where the time goes ("compute_only", "overlap", "communication_only", "idle"), rank
/// 0's.
///
/// A collective; the records are rank 0's, and empty elsewhere. Throws: ValueError without models
/// or candidates; NotFound; what training throws.
[[nodiscard]] std::vector<Measurement> overlap_search(const OverlapSearchOptions& options,
                                                      Communicator& ranks);

/// Throughput and paired gain of each record "step_time". Throws: ValueError where there is none.
[[nodiscard]] OverlapGrid overlap_grid_of(const std::vector<Measurement>& records);
/// Where a step's time goes on rank 0, a row a model and candidate: medians of its parts.
[[nodiscard]] TextTable overlap_parts_table(const std::vector<Measurement>& records);

}  // namespace d5
