// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/measuring/measure.hpp"

namespace d5 {

struct DatasetBenchOptions {
  std::int64_t batch_size = 64;
  std::vector<std::string> samplers = {"ordered", "shuffle"};
  int loader_threads = 0;  ///< prefetching threads of each sampler: see `Sampler::read_ahead`
  MeasureOptions measuring;
  std::string command_options = {};  ///< end of each record's command
};

/// Measures the time of a batch of the training part, and its rates in samples and bytes, for
/// several samplers, interleaved, over successive epochs. Outside the clock, before and after,
/// every sample of a batch is compared with the data set's, read separately. The command `d5 data
/// bench`.
/// Throws: NotFound, ValueError, and what opening throws.
[[nodiscard]] std::vector<Measurement> bench_dataset(const EntryChoice& dataset,
                                                     const DatasetBenchOptions& options = {});

}  // namespace d5
