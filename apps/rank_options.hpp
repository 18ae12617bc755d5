// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/measurement.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// What a command that runs on several ranks does to their calls. Empty, 0: nothing.
struct RankOptions {
  std::string wire, timeout, fault;
  std::string progress = "poll";  ///< or "thread"
  bool check_calls = false;
  bool mpi_bytes = false;
  std::int64_t check_ranks = 0;  ///< steps; of training
};
/// `--wire`, `--timeout`, `--progress`, `--check-calls`, `--mpi-bytes`
void add_rank_options(CLI::App& command, RankOptions& options);
/// `--fault`, `--check-ranks`: of training, which has steps.
void add_training_rank_options(CLI::App& command, RankOptions& options);
/// `world()` with all that was asked for around it; hangs are reported on stderr in any case. A
/// rank alone has nobody to wait for. Throws: ValueError.
[[nodiscard]] std::shared_ptr<Communicator> ranks_of(const RankOptions& options);
/// " --wire 50us,1GB/s": at the end of a record's command.
[[nodiscard]] std::string to_line(const RankOptions& options);
/// Says in records what their numbers depend on.
void describe(std::vector<Measurement>& records, const RankOptions& options);

}  // namespace d5::app
