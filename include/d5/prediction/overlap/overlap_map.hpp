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
  std::int64_t bytes = std::int64_t{1} << 20;  ///< of each all-reduce
  std::vector<CommunicationResources> resources = {{.threads = 0}, {.threads = 1}};
  int pairs = 30;
  double least_seconds = 2e-3;  ///< shorter kernels are run several times in a row
  /// For all cells, which end with the pairs that they have then, `fewest_pairs` at least,
  /// mistrusted. 0: as long as it takes.
  double most_seconds = 0;
  int fewest_pairs = 6;      ///< an interval of a median needs so many; where rounds have one, 1
  std::string command = {};  ///< of the records
  Interrupt interrupt = {};  ///< asked on every rank between cells; all end together
  std::function<void(const std::string&)> say = {};
};

/// What computation and communication take from each other, kernel by kernel and resource by
/// resource: "kernel_slowdown", the kernel's time beside all-reduces over its time alone, and
/// "all_reduce_slowdown", the other way round. A sample is a pair, alone and beside it one after
/// the other, each the slowest rank's; the median is the slowdown. Cells take turns, a pair each
/// time, so that a busy moment of the machine is no cell's alone.
///
/// All-reduces follow each other so that they cover the kernel wholly. A pair where they did not is
/// taken again with more of them; a cell that keeps such pairs is mistrusted, and so is one whose
/// ranks have more threads than cores.
///
/// A collective; the records are the same on every rank. Throws: ValueError for no pair or byte,
/// and for a rank alone.
[[nodiscard]] std::vector<Measurement> overlap_map(const std::vector<OverlapKernel>& kernels,
                                                   const OverlapMapOptions& options,
                                                   Communicator& ranks);

/// A row a kernel, a column a resource; each cell both slowdowns: "1.32 / 2.10". Records of several
/// rounds are one cell, `estimate_of_groups`, here and below.
[[nodiscard]] TextTable overlap_map_table(const std::vector<Measurement>& records);
/// Two pictures, "kernel-slowdown" and "all-reduce-slowdown".
[[nodiscard]] std::vector<Plot> overlap_map_plots(const std::vector<Measurement>& records);

/// How two maps agree, cell by cell.
struct OverlapMapAgreement {
  struct Cell {
    std::string kernel, resources, metric;
    Estimate first, second;
    bool agree = false;  ///< their intervals meet
  };
  std::vector<Cell> cells = {};
  std::string mistrusted = {};         ///< what differs between the maps that was to be alike
  [[nodiscard]] double share() const;  ///< of those that agree; NaN without cells
};
/// Throws: ValueError if they are of machines that differ, or of another number of ranks or
/// threads, with what differs, unless that is to be mistrusted alone.
[[nodiscard]] OverlapMapAgreement compare_overlap_maps(const Results& first, const Results& second,
                                                       Misfit misfit = Misfit::refuse);

}  // namespace d5
