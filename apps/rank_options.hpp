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

/// Decorators around the calls of a command's ranks. Empty: none.
struct RankOptions {
  enum class Progress { poll, thread };
  std::string wire, timeout;
  Progress progress = Progress::poll;
  bool check_calls = false;
  bool mpi_bytes = false;

  void declare(OptionList& options);
};
/// The same for training, which has steps.
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
/// Adds `--ranks`, for a command that starts ranks itself.
void add_started_ranks_option(CLI::App& command, int& ranks);
/// Replaces this process by `ranks` ranks on this machine, unless a launcher has started some.
/// Throws: as `become_ranks`.
void start_ranks(int ranks);
/// `world()` with the chosen decorators; hangs are always reported on stderr. A single rank has
/// none to wait for. Throws: ValueError.
[[nodiscard]] std::shared_ptr<Communicator> ranks_of(const RankOptions& options,
                                                     const std::string& fault = {});
/// Pins each thread of each rank to a core of its own. With fewer cores it does nothing: ranks
/// would share some and leave others idle.
void pin_ranks(const Communicator& ranks);
/// " --wire 50us,1GB/s": the end of a record's command.
template <std::derived_from<RankOptions> Options>
[[nodiscard]] std::string to_line(const Options& options) {
  return CommandLine().options(options).text();
}
/// Adds conditions to records on which their numbers depend.
void describe(std::vector<Measurement>& records, const RankOptions& options);
void describe(std::vector<Measurement>& records, const TrainingRankOptions& options);

}  // namespace d5::app
