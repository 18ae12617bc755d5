// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/declared_options.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// What a command that runs on several ranks does to their calls. Empty: nothing.
struct RankOptions {
  enum class Progress { poll, thread };
  std::string wire, timeout;
  Progress progress = Progress::poll;
  bool check_calls = false;
  bool mpi_bytes = false;

  void declare(OptionList& options);
};
/// The same of training, which has steps.
struct TrainingRankOptions : RankOptions {
  std::string fault;
  std::int64_t check_ranks = 0;  ///< steps; 0: never

  void declare(OptionList& options);
};
void count_traffic_if_asked(CLI::App& command, const RankOptions& options);
template <std::derived_from<RankOptions> Options>
void add_rank_options(CLI::App& command, Options& options) {
  add_declared_options(command, options, "Under mpirun");
  count_traffic_if_asked(command, options);
}
/// `--ranks`, of a command that starts some by itself.
void add_started_ranks_option(CLI::App& command, int& ranks);
/// This process becomes so many ranks of this machine, where nobody has started some. Throws: as
/// `become_ranks`.
void start_ranks(int ranks);
/// `world()` with all that was asked for around it; hangs are reported on stderr in any case. A
/// rank alone has nobody to wait for. Throws: ValueError.
[[nodiscard]] std::shared_ptr<Communicator> ranks_of(const RankOptions& options,
                                                     const std::string& fault = {});
/// A core a thread of each rank. Not where there are fewer: ranks would share some and leave
/// others.
void pin_ranks(const Communicator& ranks);
/// " --wire 50us,1GB/s": at the end of a record's command.
template <std::derived_from<RankOptions> Options>
[[nodiscard]] std::string to_line(const Options& options) {
  return CommandLine().options(options).text();
}
/// Says in records what their numbers depend on.
void describe(std::vector<Measurement>& records, const RankOptions& options);
void describe(std::vector<Measurement>& records, const TrainingRankOptions& options);

}  // namespace d5::app
