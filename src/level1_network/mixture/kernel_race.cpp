// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/kernel_race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "level1_network/mixture/node_groups.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double least(const std::vector<double>& samples) { return *std::ranges::min_element(samples); }

}  // namespace

KernelRace::KernelRace(const TrialBench& bench, double most_seconds, Progress& progress)
    : bench_(bench),
      most_seconds_(most_seconds),
      deadline_(bench.clock() + most_seconds),
      progress_(progress) {}

void KernelRace::run() {
  for (const OperatorRegistry* candidate : bench_.candidates) start(candidate->framework());
  if (runners_.size() < 2) return;
  judge();
  if (runners_.size() > 1) sample();
  sort_runners();
}

void KernelRace::start(const std::string& framework) {
  progress_.note(fmt::format("{} prepares", framework));
  Runner runner{.framework = framework};
  try {
    runner.trial = std::make_unique<PlanTrial>(bench_, KernelAssignment{.first = framework});
    expect_room(*runner.trial);
    if (groups_.empty()) {
      groups_ = node_groups(*runner.trial, *bench_.request.graph);
      random_ = random_nodes(*runner.trial);
      samples_.resize(groups_.size());
      refused_.resize(groups_.size());
    }
    warm_up(runner);
    progress_.advance();
    if (runner.trial) runners_.push_back(std::move(runner));
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    refusals_.push_back({framework, printable_message(error.what())});
  }
}

/// Throws: MemoryError for a plan that exceeds the memory limit.
void KernelRace::expect_room(const PlanTrial& trial) const {
  std::size_t bytes = trial.bytes();
  for (const Runner& runner : runners_) bytes += runner.trial->bytes();
  if (bytes <= memory_budget()) return;
  throw MemoryError(fmt::format("beside {} other plans its own makes {}, above the memory budget",
                                runners_.size(), byte_words(bytes)));
}

/// Repeats until the plan runs, without failing kernels and without far slower ones.
void KernelRace::warm_up(Runner& runner) {
  constexpr int kMostPlans = 12;
  constexpr double kFirst = 4, kFar = 3;  // a first run prepares much
  double patience = this->patience();
  for (int plans = 0; plans < kMostPlans; ++plans) {
    bool runs_any = false;
    for (std::size_t n = 0; n < runner.trial->nodes(); ++n) {
      runs_any = runs_any || runner.trial->runs_in(n, runner.framework);
    }
    if (!runs_any) return runner.trial.reset();
    bool prepared = false, soon = false;
    try {
      prepared = runner.trial->warm_up(kFirst * patience);
      soon = prepared && runner.trial->time_nodes(patience);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      const std::size_t node = runner.trial->failed_node();
      if (!runner.trial->runs_in(node, runner.framework)) throw;
      refuse_kernel(runner, node, error.what());
      if (!runner.trial) return;
      continue;
    }
    if (soon) return record(runner);
    if (bench_.clock() > deadline_) throw Unsupported("it is too slow to be measured in time");
    const bool lighter = lighten(runner, prepared ? kFar : kFirst * kFar);
    if (!lighter) patience *= 2;  // the slow part may be what it has not reached
  }
  throw Unsupported("it is too slow, or fails in too many nodes, to be measured");
}

double KernelRace::patience() const {
  constexpr double kLeast = 1, kTimes = 5;
  double fastest = kUnbounded;
  for (const Runner& runner : runners_) {
    if (!runner.totals.empty()) fastest = std::min(fastest, least(runner.totals));
  }
  return std::max(kLeast, kTimes * fastest);
}

bool KernelRace::lighten(Runner& runner, double times) {
  KernelAssignment lighter = runner.trial->assignment();
  std::set<std::size_t> slow;  // groups
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    const std::string other = runner_up(n, runner.framework);
    const auto mine = runner.trial->seconds(n);
    if (!mine || other.empty() || !runner.trial->runs_in(n, runner.framework)) continue;
    if (*mine > times * seconds(n, other)) slow.insert(groups_[n]);
  }
  if (slow.empty()) return false;
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    if (!slow.contains(groups_[n])) continue;
    lighter.kernels[first_output(runner.trial->info(n).node)] = runner_up(n, runner.framework);
  }
  for (std::size_t n = 0; n < groups_.size(); ++n) {  // enough to name the next one
    if (!slow.contains(groups_[n]) || !runner.trial->runs_in(n, runner.framework)) continue;
    if (const auto mine = runner.trial->seconds(n)) {
      samples_[groups_[n]][runner.framework] = {*mine};
    }
  }
  runner.trial = std::make_unique<PlanTrial>(bench_, lighter);
  runner.totals.clear();
  runner.lightened = true;
  return true;
}

void KernelRace::record(Runner& runner) {
  runner.totals.push_back(runner.trial->total_seconds());
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    if (!runner.trial->runs_in(n, runner.framework) || refused_[n].contains(runner.framework)) {
      continue;
    }
    samples_[groups_[n]][runner.framework].push_back(*runner.trial->seconds(n));
  }
}

void KernelRace::take_turn(Runner& runner, int samples) {
  try {
    runner.trial->settle();
    for (int i = 0; i < samples; ++i) {
      runner.trial->time_nodes(kUnbounded);
      record(runner);
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    refuse(runner, error.what());
  }
}

void KernelRace::sample() {
  constexpr int kSamples = 15, kFewest = 3;
  double fastest = kUnbounded;
  for (Runner& runner : runners_) {  // first runs were slower
    fastest = std::min(fastest, runner.trial->total_seconds());
    runner.totals.clear();
    for (std::size_t n = 0; n < groups_.size(); ++n) {
      if (runner.trial->runs_in(n, runner.framework)) samples_[groups_[n]].erase(runner.framework);
    }
  }
  const double end = bench_.clock() + most_seconds_;
  const Turns turns = turns_for(kSamples, fastest);
  for (int round = 0; round < turns.rounds && (round < kFewest || bench_.clock() < end); ++round) {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& runner = runners_[(i + std::size_t(round)) % runners_.size()];
      progress_.note(fmt::format("{}, round {}", runner.framework, round + 1));
      take_turn(runner, turns.samples);
      progress_.advance();
    }
    std::erase_if(runners_, [](const Runner& runner) { return !runner.trial; });
    if (round + 1 == kFewest) drop_hopeless();
  }
}

/// Drops plans that cannot win and are slow as a whole, to free memory and time for others. Their
/// measurements stay.
void KernelRace::drop_hopeless() {
  constexpr double kSlow = 1.5, kNear = 1.1;
  double fastest = kUnbounded;
  for (const Runner& runner : runners_) fastest = std::min(fastest, least(runner.totals));
  std::erase_if(runners_, [&](const Runner& runner) {
    if (least(runner.totals) < kSlow * fastest) return false;
    for (const auto& frameworks : samples_) {
      const auto mine = frameworks.find(runner.framework);
      if (mine == frameworks.end()) continue;
      const bool leads = std::ranges::all_of(frameworks, [&](const auto& other) {
        return least(mine->second) < kNear * least(other.second);
      });
      if (leads) return false;
    }
    return true;
  });
}

void KernelRace::sort_runners() {
  std::ranges::stable_sort(runners_, {}, [](const Runner& runner) {
    return runner.totals.empty() ? kUnbounded : summarise(runner.totals).median;
  });
}

std::vector<std::string> KernelRace::frameworks(std::size_t n) const {
  std::vector<std::string> result;
  for (const auto& [framework, samples] : samples_[groups_[n]]) {
    if (!refused_[n].contains(framework)) result.push_back(framework);
  }
  return result;
}

const std::vector<double>& KernelRace::samples(std::size_t n, const std::string& framework) const {
  return samples_[groups_[n]].at(framework);
}

double KernelRace::seconds(std::size_t n, const std::string& framework) const {
  return summarise(samples(n, framework)).median;
}

std::string KernelRace::runner_up(std::size_t node, const std::string& framework) const {
  std::string best;
  for (const auto& other : frameworks(node)) {
    if (other == framework) continue;
    if (best.empty() || seconds(node, other) < seconds(node, best)) best = other;
  }
  return best;
}

}  // namespace d5
