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
  std::vector<EntryChoice> algorithms = {};  ///< none: all of the registry, `mpi` first
  /// Of the data in float32. A size that does not divide among ranks where each has a part is
  /// rounded up to one that does.
  std::vector<std::int64_t> sizes = {};  ///< none: `default_collective_sizes()`
  MeasureOptions measuring = {};
  std::string command_options = {};  ///< of the program, at the end of a record's command
};

/// 4 B to 64 MiB by factors of 4.
[[nodiscard]] std::vector<std::int64_t> default_collective_sizes();
/// The bytes of DeepBench's all-reduces, from a file with a column "elements".
/// Throws: IoError, FormatError.
[[nodiscard]] std::vector<std::int64_t> deepbench_all_reduce_sizes(const std::string& file);

/// Times algorithms of one kind, interleaved size by size, judged before the clock and after it.
/// For each size and algorithm: "time" of a call, on the rank that took longest, sample by sample;
/// "algorithm_bandwidth", bytes of the data a second; "bus_bandwidth", that times
/// `CollectiveKind::bus_factor`; after those of the first that is right "time_ratio" to it. Each
/// call has data that no call before had; ranks leave a barrier together. Short calls are timed as
/// several in a row (the condition "repetitions").
///
/// Rank 0 measures, and the others do what it orders: the records are rank 0's, elsewhere there are
/// none. Throws: NotFound, ValueError (on all ranks alike); where a rank fails alone, what that was
/// there, and CommunicationError on the others, which names it. What fails in a call that is timed,
/// but not in the one that is judged before it, is seen within the timeout of `ranks`, if it has
/// one.
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
