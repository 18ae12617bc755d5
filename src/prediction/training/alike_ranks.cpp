// SPDX-License-Identifier: Apache-2.0
#include "prediction/training/alike_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5::detail {
namespace {

/// Ranks that are tried rank by rank: of 4 hosts, and 8 at least.
int tried_ranks(int members) { return std::max(4 * members, 8); }

constexpr double kMostOff = 1e-3;  // share of a step
constexpr int kMostMembers = 64;

/// Whether the members' step is that of every rank, where ranks are few.
bool agree(const TrainingProfile& profile, const ClusterDescription& cluster,
           SimulatedTrainingOptions options) {
  const int ranks = tried_ranks(options.simulation.members);
  try {
    const double folded = simulate_ranks(profile, ranks, cluster, options).step;
    options.simulation.members = 0;
    const double every = simulate_ranks(profile, ranks, cluster, options).step;
    return std::abs(folded - every) <= kMostOff * every;
  } catch (const RanksDiffer&) {
    return false;
  } catch (const SimulationBudget&) {
    return false;
  }
}

/// `agree`, once for each kind of simulation.
bool agreed(const TrainingProfile& profile, const ClusterDescription& cluster,
            const SimulatedTrainingOptions& options) {
  static std::mutex mutex;
  static std::map<std::string, bool> known;
  const SimulationOptions& simulation = options.simulation;
  const std::string kind = fmt::format(
      "{} {} {} {} {} {} {} {} {}", to_words(options.scheme), to_words(simulation.model),
      static_cast<int>(simulation.progress), simulation.eager_bytes, profile.model, options.batch,
      cluster.name, cluster.topology, simulation.members);
  const std::lock_guard lock(mutex);
  const auto place = known.find(kind);
  if (place != known.end()) return place->second;
  return known[kind] = agree(profile, cluster, options);
}

}  // namespace

std::optional<SimulatedTraining> simulate_alike_ranks(const TrainingProfile& profile, int ranks,
                                                      const ClusterDescription& cluster,
                                                      const SimulatedTrainingOptions& options) {
  if (options.every_rank || options.draws_steps || Trace::on() || cluster.topology == "memory") {
    return {};
  }
  std::vector<std::int64_t> hosts = {1};
  for (const ClusterLevel& level : cluster.levels) hosts.push_back(level.hosts);
  SimulatedTrainingOptions some = options;
  for (const std::int64_t each : hosts) {
    const std::int64_t members = each * cluster.ranks_per_host;
    if (members > kMostMembers) break;
    some.simulation.members = static_cast<int>(members);
    if (ranks <= tried_ranks(some.simulation.members) || ranks % members != 0) continue;
    if (!agreed(profile, cluster, some)) continue;
    try {
      return simulate_ranks(profile, ranks, cluster, some);
    } catch (const RanksDiffer&) {
      continue;
    }
  }
  return {};
}

}  // namespace d5::detail
