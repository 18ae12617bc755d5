// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/overlap/overlap_kernels.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

struct OverlapMapOptions {
  EntryChoice all_reduce{"node_memory"};
  std::int64_t bytes = std::int64_t{1} << 20;  ///< size of each all-reduce
  std::vector<CommunicationResources> resources = {{.threads = 0}, {.threads = 1}};
  int pairs = 30;
  double least_seconds = 2e-3;  ///< shorter kernels are repeated to reach it
  /// Time limit for all cells. At the limit they end with the pairs measured so far, at least
  /// `fewest_pairs`, and are marked as mistrusted. 0: no limit.
  double most_seconds = 0;
  int fewest_pairs = 6;      ///< needed for the interval of a median; 1 with several rounds
  std::string command = {};  ///< for the records
  Interrupt interrupt = {};  ///< checked on every rank between cells; all ranks end together
  std::function<void(const std::string&)> say = {};
};

/// Measures the mutual slowdown of computation and communication for each kernel and resource
/// setting. "kernel_slowdown" is the kernel's time beside all-reduces divided by its time alone;
/// "all_reduce_slowdown" is the reverse. A sample is a pair of times, alone and beside, each of the
/// slowest rank; the median is the slowdown. Cells take turns, one pair each, so that a busy moment
/// of the machine does not affect one cell only.
///
/// Enough all-reduces run back to back to cover the whole kernel. A pair in which they do not is
/// repeated with more of them; a cell that keeps such pairs is marked as mistrusted, and so is one
/// whose ranks have more threads than cores.
///
/// A collective; the records are the same on every rank.
/// Throws: ValueError for no pair or byte, and on a single rank.
[[nodiscard]] std::vector<Measurement> overlap_map(const std::vector<OverlapKernel>& kernels,
                                                   const OverlapMapOptions& options,
                                                   Communicator& ranks);

/// One row per kernel, one column per resource setting; each cell has both slowdowns: "1.32 /
/// 2.10". Here and below, records of several rounds are joined by `estimate_of_groups`.
[[nodiscard]] TextTable overlap_map_table(const std::vector<Measurement>& records);
/// Two plots, "kernel-slowdown" and "all-reduce-slowdown".
[[nodiscard]] std::vector<Plot> overlap_map_plots(const std::vector<Measurement>& records);

/// Agreement of two maps, cell by cell.
struct OverlapMapAgreement {
  struct Cell {
    std::string kernel, resources, metric;
    Estimate first, second;
    bool agree = false;  ///< the intervals overlap
  };
  std::vector<Cell> cells = {};
  std::string mistrusted = {};         ///< differences between the maps' setups; empty: none
  [[nodiscard]] double share() const;  ///< share of cells that agree; NaN without cells
};
/// Compares two maps. Throws: ValueError with the differences if machine, number of ranks or
/// threads differ, unless `misfit` is `Misfit::mistrust`.
[[nodiscard]] OverlapMapAgreement compare_overlap_maps(const Results& first, const Results& second,
                                                       Misfit misfit = Misfit::refuse);

}  // namespace d5
