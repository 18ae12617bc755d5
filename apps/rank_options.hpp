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
/// `--ranks`, of a command that starts some by itself.
void add_started_ranks_option(CLI::App& command, int& ranks);
/// This process becomes so many ranks of this machine, where nobody has started some. Throws: as
/// `become_ranks`.
void start_ranks(int ranks);
/// `--fault`, `--check-ranks`: of training, which has steps.
void add_training_rank_options(CLI::App& command, RankOptions& options);
/// `world()` with all that was asked for around it; hangs are reported on stderr in any case. A
/// rank alone has nobody to wait for. Throws: ValueError.
[[nodiscard]] std::shared_ptr<Communicator> ranks_of(const RankOptions& options);
/// A core a thread of each rank. Not where there are fewer: ranks would share some and leave
/// others.
void pin_ranks(const Communicator& ranks);
/// " --wire 50us,1GB/s": at the end of a record's command.
[[nodiscard]] std::string to_line(const RankOptions& options);
/// Says in records what their numbers depend on.
void describe(std::vector<Measurement>& records, const RankOptions& options);

}  // namespace d5::app
