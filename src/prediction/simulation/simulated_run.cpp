// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulation/simulated_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/clocks/virtual_clock.hpp"
#include "core/trace/thread_trace.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/core/trace/trace.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "prediction/simulation/simulated_communicator.hpp"
#include "prediction/simulation/simulated_progress.hpp"
#include "prediction/simulation/simulated_world.hpp"

namespace d5 {
namespace {

using detail::SimulatedWorld;

class FiberRank final : public SimulatedRank {
 public:
  FiberRank(SimulatedWorld& world, int rank) : world_(world), rank_(rank) {}
  int rank() const override { return rank_; }
  double now() const override { return world_.scheduler.current().time; }
  void spend(double seconds, const Slowdown& slowdown) override {
    if (!(seconds >= 0) || std::isinf(seconds)) {
      throw ValueError(
          fmt::format("simulated rank {}: it cannot spend {} seconds; expected 0 or "
                      "more",
                      rank_, seconds));
    }
    if (slowdown == Slowdown{} || seconds == 0) {
      world_.scheduler.current().time += seconds;
      return;
    }
    expect_usable(slowdown, fmt::format("simulated rank {}", rank_));
    world_.computing.compute(seconds, slowdown);
  }

 private:
  SimulatedWorld& world_;
  int rank_;
};

thread_local SimulatedWorld* world_of_thread = nullptr;

/// Replaces pauses by waits of fibers, and the clock by virtual time, while a simulation runs on
/// this thread.
class ThreadOfFibers {
 public:
  explicit ThreadOfFibers(SimulatedWorld& world)
      : pause_(detail::pause_instead_of_thread()), clock_(detail::virtual_clock_of_thread()) {
    if (world_of_thread) {
      throw Unsupported("run_simulated inside a simulated rank; start it outside");
    }
    world_of_thread = &world;
    detail::nodes_of_strands() = &world.nodes;
    detail::pause_instead_of_thread() = [] {
      // An unwinding fiber finds its calls failed; an exception here might terminate the process.
      if (!world_of_thread->scheduler.stopping()) world_of_thread->board.wait_for_change();
    };
    detail::virtual_clock_of_thread() = [] {
      constexpr double kBegin = 1;  // 0 is "not yet" in records
      const auto& scheduler = world_of_thread->scheduler;
      return kBegin + (scheduler.is_running() ? scheduler.current().time : 0);
    };
  }
  ~ThreadOfFibers() {
    world_of_thread = nullptr;
    detail::nodes_of_strands() = nullptr;
    detail::pause_instead_of_thread() = pause_;
    detail::virtual_clock_of_thread() = clock_;
  }
  ThreadOfFibers(const ThreadOfFibers&) = delete;
  ThreadOfFibers& operator=(const ThreadOfFibers&) = delete;

 private:
  detail::PauseInstead pause_;
  detail::VirtualClock clock_;
};

void run_rank(
    SimulatedRank& self, const std::shared_ptr<SimulatedWorld>& world,
    const std::function<void(SimulatedRank&, const std::shared_ptr<Communicator>&)>& function) {
  if (Trace::on()) {
    detail::trace_of_thread().lane = Trace::lane(fmt::format("simulated rank {}", self.rank()));
  }
  auto communicator = detail::make_simulated_communicator(world, self.rank());
  if (world->options.progress == SimulatedProgressRule::poll) return function(self, communicator);
  const auto moved = std::make_shared<detail::SimulatedProgress>(communicator, world);
  struct Stops {
    detail::SimulatedProgress& progress;
    ~Stops() { progress.stop(); }
  };
  const Stops stops{*moved};
  function(self, moved);
}

/// Resident memory of this process in bytes.
double resident_bytes() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Time and memory limits of a simulation.
class SimulationLimits {
 public:
  /// Throws: MemoryError.
  SimulationLimits(const SimulationOptions& options, int ranks)
      : seconds_(options.most_wall_seconds),
        bytes_(options.most_bytes > 0 ? static_cast<double>(options.most_bytes)
                                      : static_cast<double>(memory_budget())) {
    // Minimum per rank: two used stack pages, bookkeeping and a communicator.
    constexpr double kLeastOfRank = 16 << 10;
    if (ranks * kLeastOfRank <= bytes_) return;
    throw MemoryError(
        fmt::format("{} simulated ranks need at least {} bytes to start, but the limit is {}; "
                    "simulate fewer, raise {}, or take {}",
                    ranks, ranks * kLeastOfRank, bytes_, option_word("budget"),
                    option_word("model", "formula")));
  }
  /// The reason to stop; empty: none.
  [[nodiscard]] std::string reached() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    if (seconds_ > 0 && spent.count() >= seconds_) {
      return fmt::format("the limit of {} s of real time was reached", seconds_);
    }
    if (const double taken = resident_bytes() - before_; taken > bytes_) {
      return fmt::format("{} bytes of memory were taken, of a budget of {}", taken, bytes_);
    }
    return "";
  }

 private:
  double seconds_, bytes_, before_ = resident_bytes();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

[[noreturn]] void throw_deadlock(const SimulatedWorld& world) {
  if (world.folded.folds()) {
    throw RanksDiffer(fmt::format("simulation: {} ranks wait for messages that none like them send",
                                  world.folded.members()));
  }
  constexpr std::size_t kMostRanks = 16, kMostCalls = 4;
  std::vector<std::string> lines;
  std::size_t waiting = 0;
  for (const auto& strand : world.scheduler.strands()) {
    if (strand->background || !strand->waits || ++waiting > kMostRanks) continue;
    std::vector<std::string> calls;
    for (const auto* call : world.library_calls[static_cast<std::size_t>(strand->rank)]) {
      calls.push_back(call->words());
    }
    if (calls.empty()) calls = world.board.outstanding(strand->rank);
    if (calls.size() > kMostCalls) {
      const std::size_t more = calls.size() - kMostCalls;
      calls.resize(kMostCalls);
      calls.push_back(fmt::format("{} more", more));
    }
    lines.push_back(fmt::format("rank {} since {:.9g} s in {}", strand->rank, strand->time,
                                fmt::join(calls, ", ")));
  }
  if (waiting > kMostRanks) lines.push_back(fmt::format("{} ranks more", waiting - kMostRanks));
  throw CommunicationError(
      fmt::format("deadlock of simulated ranks: no message is in flight, and {} of {} wait: {}",
                  waiting, world.library_calls.size(), fmt::join(lines, "; ")));
}

}  // namespace

void SimulationOptions::declare(OptionList& list) {
  list.add("model", model, "network model", "simulated network");
  list.add("eager_bytes", eager_bytes,
           "eager limit: maximum bytes of a message that starts before its receive is posted",
           {.least = 0, .unit = "byte"});
  list.add("reduce_bandwidth", rates.reduce_bandwidth, "bytes/s of local reductions; 0: free",
           {.least = 0});
  list.add("scale_bandwidth", rates.scale_bandwidth, "bytes/s of local scaling; 0: free",
           {.least = 0});
  list.add("copy_bandwidth", rates.copy_bandwidth, "bytes/s of local copies; 0: free",
           {.least = 0});
  list.add("shared_bandwidth", rates.shared_bandwidth,
           "bytes/s of copies to and from shared memory; 0: as copy_bandwidth", {.least = 0});
  list.add("shared_reduce_bandwidth", rates.shared_reduce_bandwidth,
           "bytes/s of sums of another rank's data in shared memory; 0: as reduce_bandwidth",
           {.least = 0});
  list.add("progress", progress,
           "progress of algorithms in flight: when their rank polls, or by a thread",
           {"poll", "thread"});
  list.add("most_wall_seconds", most_wall_seconds,
           "limit of real time of the simulation in s; 0: none", {.least = 0});
  list.add("most_bytes", most_bytes, "limit of memory of the simulation; 0: the process's budget",
           {.least = 0, .unit = "byte"});
  list.add("stack_bytes", stack_bytes, "stack size of each rank",
           {.least = 1 << 16, .unit = "byte"});
}

void SimulationOptions::limit(const std::string& words) {
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) {
    if (!word.empty() && std::toupper(static_cast<unsigned char>(word.back())) == 'B') {
      most_bytes = static_cast<std::int64_t>(byte_count(word));
    } else {
      most_wall_seconds = duration_seconds(word);
    }
  }
}

SimulationReport run_simulated(
    int ranks, const ClusterDescription& cluster,
    const std::function<void(SimulatedRank&, const std::shared_ptr<Communicator>&)>& function,
    const SimulationOptions& options) {
  const double begin = now_seconds();  // timed: creation, run and destruction of the ranks
  if (ranks < 1) {
    throw ValueError(fmt::format("{} simulated ranks; expected 1 or more", ranks));
  }
  const int members = options.members > 0 ? std::min(options.members, ranks) : ranks;
  const SimulationLimits limits(options, members);
  const auto world = std::make_shared<SimulatedWorld>(cluster, ranks, options);
  SimulationReport report;
  report.rank_seconds.resize(static_cast<std::size_t>(members));
  const auto is_over = [&] {
    report.stopped = limits.reached();
    return !report.stopped.empty();
  };
  std::optional<ThreadOfFibers> thread(std::in_place, *world);
  for (int rank = 0; rank < members; ++rank) {
    world->scheduler.spawn(rank, [&, rank] {
      FiberRank self(*world, rank);
      struct Keeps {  // also after an early stop
        double& seconds;
        const SimulatedRank& rank;
        ~Keeps() { seconds = rank.now(); }
      };
      const Keeps keeps{report.rank_seconds[static_cast<std::size_t>(rank)], self};
      run_rank(self, world, function);
    });
  }
  world->scheduler.run(world->computing, [&] { throw_deadlock(*world); }, is_over);
  thread.reset();
  if (members < ranks && report.stopped.empty() && world->board.has_unmet()) {
    throw RanksDiffer(
        fmt::format("simulation: {} of {} ranks sent messages that none expects", members, ranks));
  }
  report.seconds = std::ranges::max(report.rank_seconds);
  report.messages = world->board.messages();
  report.largest_bytes = world->board.largest_bytes();
  report.switches = world->scheduler.switches();
  report.wall_seconds = now_seconds() - begin;
  return report;
}

}  // namespace d5
