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
  int loader_threads = 0;  ///< that read ahead, of each sampler: see `Sampler::read_ahead`
  MeasureOptions measuring;
  std::string command_options = {};  ///< of the program, at the end of each record's command
};

/// What `d5 data bench` does: the time of a batch of the training part, and its rates in samples
/// and bytes, drawn by one sampler after another, interleaved. An epoch follows the other. Before
/// the clock and after it every sample of a batch is held against the data set, read alone.
/// Throws: NotFound, ValueError, and what opening throws.
[[nodiscard]] std::vector<Measurement> bench_dataset(const EntryChoice& dataset,
                                                     const DatasetBenchOptions& options = {});

}  // namespace d5
