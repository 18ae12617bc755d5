// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

struct CollectiveBenchOptions {
  std::vector<EntryChoice> algorithms = {};  ///< empty: all registered ones, `mpi` first
  /// Bytes of the float32 data; empty: `default_collective_sizes()`. If each rank has a part, a
  /// size is rounded up until it divides evenly among the ranks.
  std::vector<std::int64_t> sizes = {};
  MeasureOptions measuring = {.most_seconds = 10};  ///< per size
  std::string command_options = {};  ///< the program's options, appended to a record's command
};

/// 4 B to 64 MiB by factors of 4.
[[nodiscard]] std::vector<std::int64_t> default_collective_sizes();
/// Sizes (bytes) of DeepBench's all-reduces, from a file with a column "elements". Throws: IoError,
/// FormatError.
[[nodiscard]] std::vector<std::int64_t> deepbench_all_reduce_sizes(const std::string& file);

/// Times the algorithms of one kind of collective, interleaved size by size. Results are checked
/// before and after the timed calls. Each call has new data and begins after a barrier. Short calls
/// are timed as several in a row (the condition "repetitions"). Records per size and algorithm:
///
/// - "time": a call's time on the slowest rank, sample by sample;
/// - "algorithm_bandwidth": bytes of the data per second;
/// - "bus_bandwidth": algorithm bandwidth times `CollectiveKind::bus_factor`;
/// - "time_ratio": time relative to that of the first correct algorithm.
///
/// Rank 0 measures and directs the others; only rank 0 returns records.
///
/// Throws: NotFound, ValueError (on all ranks alike). If one rank fails alone, it throws its own
/// error, and the others throw a CommunicationError that names the rank. A failure in a timed call
/// that did not occur in the checked call before it is seen within the timeout of `ranks`, if there
/// is one.
[[nodiscard]] std::vector<Measurement> bench_collective(CallKind kind,
                                                        const CollectiveBenchOptions& options,
                                                        Communicator& ranks);

/// Records of `bench_collective` for people, as nccl-tests print them: of one algorithm a line a
/// size with time, algorithm and bus bandwidth; of several a table size × algorithm for time and
/// one for bus bandwidth, with the fastest of each size. A number that did not pass has a star, and
/// its reason stands below. `width`: as for `TextTable::to_text`.
[[nodiscard]] std::string collective_text(const std::vector<Measurement>& records, Format format,
                                          int width = 0);

}  // namespace d5
