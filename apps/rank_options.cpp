// SPDX-License-Identifier: Apache-2.0
#include "apps/rank_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <thread>
#include <utility>

#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/level3_distributed/communicator/library_traffic.hpp"
#include "d5/level3_distributed/communicator/progress_thread.hpp"
#include "d5/level3_distributed/decorators/call_order.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"
#include "d5/level3_distributed/decorators/fault_injection.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

namespace d5::app {
namespace {

std::string timeout_words(const std::string& words) {
  const auto timeout = duration_of(words);
  if (timeout.count() > 0) return duration_words(timeout);
  throw ValueError(fmt::format("a timeout of '{}' leaves no time to wait; expected one such as 10s",
                               printable(words)));
}

}  // namespace

void RankOptions::declare(OptionList& options) {
  options.add("wire", wire, "delay messages as a network of this latency and bandwidth would",
              {.placeholder = "LATENCY,BANDWIDTH",
               .read = [](const std::string& text) { return to_string(wire_of(text)); }});
  options.add(
      "progress", progress,
      "progress of collectives while a rank computes: poll, by the rank itself at intervals; "
      "thread, by a separate thread",
      {"poll", "thread"});
  options.add("check_calls", check_calls,
              "compare each collective between the ranks before it begins");
  options.add("mpi_bytes", mpi_bytes,
              "count the bytes that MPI itself sends, inside its collectives too, for "
              "communication_volume");
  options.add("timeout", timeout,
              "time to wait for other ranks before failing with the names of the missing ones",
              {.placeholder = "TIME", .read = timeout_words});
}

void TrainingRankOptions::declare(OptionList& options) {
  RankOptions::declare(options);
  options.add("fault", fault, "inject a fault at a rank and step: kill, hang, delay or nan",
              {.placeholder = "WHAT:rank=R,step=N",
               .read = [](const std::string& text) { return to_string(fault_of(text)); }});
  options.add("check_ranks", check_ranks,
              "steps between two comparisons of the ranks' parameters; 0: never compare",
              {.least = 0});
}

void add_started_ranks_option(CLI::App& command, int& ranks) {
  command
      .add_option("--ranks", ranks, "number of ranks to start, unless a launcher has started some")
      ->transform(whole_number(2, 4096))
      ->option_text("N");
}

void start_ranks(int ranks) {
  if (!is_launched()) become_ranks(ranks, own_command());
}

void count_traffic_if_asked(CLI::App& command, const RankOptions& options) {
  command.parse_complete_callback([&options] {
    if (options.mpi_bytes) count_library_traffic();  // before the first use of the world
  });
}

std::shared_ptr<Communicator> ranks_of(const RankOptions& options, const std::string& fault) {
  std::shared_ptr<Communicator> ranks = world();
  if (ranks->size() > 1 && options.check_calls) ranks = std::make_shared<CallOrder>(ranks);
  if (!options.wire.empty()) ranks = std::make_shared<WireModel>(ranks, wire_of(options.wire));
  if (!fault.empty()) ranks = std::make_shared<FaultInjection>(ranks, fault_of(fault));
  if (ranks->size() == 1) return ranks;
  CallTimeoutOptions waiting;
  if (!options.timeout.empty()) waiting.timeout = duration_of(options.timeout);
  ranks = std::make_shared<CallTimeout>(ranks, std::move(waiting));
  if (options.progress == RankOptions::Progress::thread) {
    ranks = std::make_shared<ProgressThread>(ranks);
  }
  set_world(ranks);
  return ranks;
}

void pin_ranks(const Communicator& ranks) {
  if (unsigned(ranks.size() * threads()) <= std::thread::hardware_concurrency()) {
    pin_threads(ranks.rank() * threads());
  }
}

void describe(std::vector<Measurement>& records, const RankOptions& options) {
  for (Measurement& record : records) {
    if (!options.wire.empty()) {
      record.conditions["wire"] = identity(
          fmt::format("modelled {}; a library's collective at its lower bound", options.wire));
    }
    if (options.progress == RankOptions::Progress::thread) {
      record.conditions["progress"] = identity("thread");
    }
    if (options.check_calls) record.conditions["check_calls"] = identity("on");
    if (options.mpi_bytes) record.conditions["mpi_bytes"] = identity("counted");
  }
}

void describe(std::vector<Measurement>& records, const TrainingRankOptions& options) {
  describe(records, static_cast<const RankOptions&>(options));
  for (Measurement& record : records) {
    if (!options.fault.empty()) record.conditions["fault"] = identity(options.fault);
    if (options.check_ranks > 0) record.conditions["check_ranks"] = identity(options.check_ranks);
  }
}

}  // namespace d5::app
