// SPDX-License-Identifier: Apache-2.0
#include "apps/rank_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <thread>
#include <utility>

#include "apps/value_checks.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/duration.hpp"
#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/level3_distributed/call_order.hpp"
#include "d5/level3_distributed/call_timeout.hpp"
#include "d5/level3_distributed/distributed_training.hpp"
#include "d5/level3_distributed/fault_injection.hpp"
#include "d5/level3_distributed/library_traffic.hpp"
#include "d5/level3_distributed/progress_thread.hpp"
#include "d5/level3_distributed/rank_launch.hpp"
#include "d5/level3_distributed/wire_model.hpp"

namespace d5::app {
namespace {

constexpr const char* kGroup = "Under mpirun";

/// A text that `read` takes, and what it throws as the refusal.
template <class Read>
CLI::Validator read_by(const Read& read) {
  return CLI::Validator(
      [read](std::string& text) {
        try {
          text = read(text);
          return std::string();
        } catch (const ValueError& error) {
          return std::string(error.what());
        }
      },
      "");
}

std::string timeout_words(const std::string& words) {
  const auto timeout = duration_of(words);
  if (timeout.count() > 0) return duration_words(timeout);
  throw ValueError(
      fmt::format("a timeout of '{}' has nobody wait; expected one such as 10s", printable(words)));
}

}  // namespace

void add_rank_options(CLI::App& command, RankOptions& options) {
  command
      .add_option("--wire", options.wire,
                  "delay messages as a network of this latency and bandwidth would")
      ->transform(read_by([](const std::string& text) { return to_string(wire_of(text)); }))
      ->option_text("LATENCY,BANDWIDTH")
      ->group(kGroup);
  command
      .add_option("--timeout", options.timeout,
                  "a wait for other ranks that takes longer fails, and names who is not there")
      ->transform(read_by(timeout_words))
      ->option_text("TIME")
      ->group(kGroup);
  command
      .add_option("--progress", options.progress,
                  "who moves calls on while a rank computes: itself now and then, or a thread")
      ->transform(one_of({{"poll", "poll"}, {"thread", "thread"}}))
      ->option_text("poll|thread")
      ->group(kGroup);
  command
      .add_flag("--check-calls", options.check_calls,
                "compare each collective between the ranks before it begins")
      ->group(kGroup);
  command
      .add_flag_function(
          "--mpi-bytes",
          [&options](std::int64_t) {
            options.mpi_bytes = true;
            count_library_traffic();  // before anything asks for the world
          },
          "count what MPI itself sends, inside its collectives too, for communication_volume")
      ->group(kGroup);
}

void add_started_ranks_option(CLI::App& command, int& ranks) {
  command.add_option("--ranks", ranks, "that it starts, where nobody has started some")
      ->transform(whole_number(2, 4096))
      ->option_text("N");
}

void start_ranks(int ranks) {
  if (!is_launched()) become_ranks(ranks, own_command());
}

void add_training_rank_options(CLI::App& command, RankOptions& options) {
  command
      .add_option("--fault", options.fault,
                  "do something wrong at a rank and step: kill, hang, delay or nan")
      ->transform(read_by([](const std::string& text) { return to_string(fault_of(text)); }))
      ->option_text("WHAT:rank=R,step=N")
      ->group(kGroup);
  command
      .add_option("--check-ranks", options.check_ranks,
                  "compare the ranks' parameters every so many steps")
      ->transform(whole_number(1))
      ->option_text("N")
      ->group(kGroup);
}

std::shared_ptr<Communicator> ranks_of(const RankOptions& options) {
  std::shared_ptr<Communicator> ranks = world();
  if (ranks->size() > 1 && options.check_calls) ranks = std::make_shared<CallOrder>(ranks);
  if (!options.wire.empty()) ranks = std::make_shared<WireModel>(ranks, wire_of(options.wire));
  if (!options.fault.empty()) {
    ranks = std::make_shared<FaultInjection>(ranks, fault_of(options.fault));
  }
  if (ranks->size() == 1) return ranks;
  CallTimeoutOptions waiting;
  if (!options.timeout.empty()) waiting.timeout = duration_of(options.timeout);
  ranks = std::make_shared<CallTimeout>(ranks, std::move(waiting));
  if (options.progress == "thread") ranks = std::make_shared<ProgressThread>(ranks);
  set_world(ranks);
  return ranks;
}

void pin_ranks(const Communicator& ranks) {
  if (unsigned(ranks.size() * threads()) <= std::thread::hardware_concurrency()) {
    pin_threads(ranks.rank() * threads());
  }
}

std::string to_line(const RankOptions& options) {
  CommandLine line;
  if (!options.wire.empty()) line.option("--wire", options.wire);
  if (options.progress == "thread") line.option("--progress", options.progress);
  if (options.check_calls) line.flag("--check-calls");
  if (options.mpi_bytes) line.flag("--mpi-bytes");
  if (!options.timeout.empty()) line.option("--timeout", options.timeout);
  if (!options.fault.empty()) line.option("--fault", options.fault);
  if (options.check_ranks > 0) line.option("--check-ranks", options.check_ranks);
  return line.text();
}

void describe(std::vector<Measurement>& records, const RankOptions& options) {
  for (Measurement& record : records) {
    if (!options.wire.empty()) {
      record.conditions["wire"] = identity(
          fmt::format("modelled {}; a library's collective at its lower bound", options.wire));
    }
    if (options.progress == "thread") record.conditions["progress"] = identity(options.progress);
    if (options.check_calls) record.conditions["check_calls"] = identity("on");
    if (options.mpi_bytes) record.conditions["mpi_bytes"] = identity("counted");
    if (!options.fault.empty()) record.conditions["fault"] = identity(options.fault);
    if (options.check_ranks > 0) {
      record.conditions["check_ranks"] = identity(options.check_ranks);
    }
  }
}

}  // namespace d5::app
