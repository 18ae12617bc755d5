// SPDX-License-Identifier: Apache-2.0
#include "prediction/training/alike_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/trace/trace.hpp"
#include "prediction/training/contended_pieces.hpp"

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

/// All that the step of some ranks depends on. Names alone do not tell: programs make clusters and
/// profiles of one name that differ.
std::string kind_of(const TrainingProfile& profile, const ClusterDescription& cluster,
                    const SimulatedTrainingOptions& options) {
  const SimulationOptions& simulation = options.simulation;
  const RankRates& rates = simulation.rates;
  std::string kind = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {}\n{}", to_words(options.scheme), to_words(simulation.model),
      static_cast<int>(simulation.progress), simulation.eager_bytes, options.batch,
      options.compute_factor, simulation.members, rates.reduce_bandwidth, rates.scale_bandwidth,
      rates.copy_bandwidth, std::hash<std::string>()(to_json(profile)), to_yaml(cluster));
  // Figures without a source are not in the text.
  for (const ClusterFigure* figure :
       {&cluster.latency, &cluster.bandwidth, &cluster.overhead, &cluster.end_bandwidth,
        &cluster.medium_share, &cluster.signal, &cluster.look, &cluster.host_latency,
        &cluster.host_bandwidth}) {
    kind += fmt::format(" {}", figure->value);
  }
  if (!options.map) return kind;
  for (const Slowdown& each : contended_pieces(profile, options).slowdowns) {
    kind += fmt::format(" {},{}", each.kernel, each.all_reduce);
  }
  return kind;
}

/// `agree`, once for each kind of simulation.
bool agreed(const TrainingProfile& profile, const ClusterDescription& cluster,
            const SimulatedTrainingOptions& options) {
  static std::mutex mutex;
  static std::map<std::string, bool> known;
  const std::string kind = kind_of(profile, cluster, options);
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
