// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training_graphs/closed_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// Number of sequential messages, and their total bytes.
struct Rounds {
  double messages = 0, bytes = 0;
};
struct ClosedForm {
  const char *kind, *algorithm;
  Rounds (*rounds)(double bytes, std::int64_t ranks);
};

double log2_up(std::int64_t ranks) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(ranks) - 1));
}
double others(std::int64_t ranks) { return static_cast<double>(ranks - 1); }
double share_of_others(std::int64_t ranks) { return others(ranks) / static_cast<double>(ranks); }

Rounds all_reduce_ring(double bytes, std::int64_t ranks) {
  return {2 * others(ranks), 2 * share_of_others(ranks) * bytes};
}
Rounds rabenseifner(double bytes, std::int64_t ranks) {
  return {2 * log2_up(ranks), 2 * share_of_others(ranks) * bytes};
}
Rounds recursive_doubling(double bytes, std::int64_t ranks) {
  const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(ranks));
  const double rounds = is_power ? log2_up(ranks) : log2_up(ranks) - 1 + 2;
  return {rounds, rounds * bytes};
}
Rounds all_reduce_tree(double bytes, std::int64_t ranks) {
  return {2 * log2_up(ranks), 2 * log2_up(ranks) * bytes};
}
Rounds scatter(double bytes, std::int64_t ranks) {
  return {others(ranks), share_of_others(ranks) * bytes};
}
Rounds gather_ring(double bytes, std::int64_t ranks) {
  return {others(ranks), others(ranks) * bytes};
}
Rounds gather_at_once(double bytes, std::int64_t ranks) { return {1, others(ranks) * bytes}; }
Rounds gather_doubling(double bytes, std::int64_t ranks) {
  return {log2_up(ranks), others(ranks) * bytes};
}
Rounds tree_of_parts(double bytes, std::int64_t ranks) {
  return {log2_up(ranks), others(ranks) * bytes};
}
Rounds dissemination(double, std::int64_t ranks) { return {log2_up(ranks), 0}; }
Rounds broadcast_tree(double bytes, std::int64_t ranks) {
  return {log2_up(ranks), log2_up(ranks) * bytes};
}
Rounds through_server(double bytes, std::int64_t ranks) {
  return {1, static_cast<double>(ranks) * bytes};
}
Rounds one_message(double bytes, std::int64_t) { return {1, bytes}; }

constexpr ClosedForm kClosedForms[] = {
    {"all_reduce", "ring", all_reduce_ring},
    {"all_reduce", "segmented_ring", all_reduce_ring},
    {"all_reduce", "two_level_ring", all_reduce_ring},
    {"all_reduce", "rabenseifner", rabenseifner},
    {"all_reduce", "recursive_doubling", recursive_doubling},
    {"all_reduce", "binomial_tree", all_reduce_tree},
    {"all_reduce", "mpi", all_reduce_tree},
    {"reduce_scatter", "ring", scatter},
    {"reduce_scatter", "pairwise", scatter},
    {"all_gather", "ring", gather_ring},
    {"all_gather", "recursive_doubling", gather_doubling},
    {"all_gather", "bruck", gather_doubling},
    {"all_gather", "mpi", gather_at_once},
    {"broadcast", "binomial", broadcast_tree},
    {"reduce", "binomial", broadcast_tree},
    {"gather", "binomial", tree_of_parts},
    {"scatter", "binomial", tree_of_parts},
    {"all_to_all", "pairwise", scatter},
    {"barrier", "dissemination", dissemination},
    {"push", "", through_server},
    {"pull", "", through_server},
    {"send", "", one_message},
    {"receive", "", one_message},
};

Rounds rounds_of(const std::string& kind, const CostRule& rule) {
  const std::string meant = kind == "negotiation" ? "all_reduce" : kind;
  std::vector<std::string> known;
  for (const ClosedForm& row : kClosedForms) {
    if (meant != row.kind) continue;
    if (rule.algorithm == row.algorithm || row.algorithm[0] == '\0') {
      return row.rounds(rule.bytes, rule.ranks);
    }
    known.emplace_back(row.algorithm);
  }
  throw_unknown_name(fmt::format("closed form of {} by", kind), rule.algorithm, known);
}

}  // namespace

namespace {

/// One host, with the links between its ranks.
ClusterDescription host_of(const ClusterDescription& cluster) {
  ClusterDescription host = cluster;
  host.ranks_per_host = 1;
  if (cluster.host_bandwidth.value > 0) {
    host.latency = cluster.host_latency;
    host.bandwidth = cluster.host_bandwidth;
    host.segments.clear();
  }
  return host;
}

/// Rings inside hosts of k ranks, and rings between them, whose messages share the hosts' ports.
double two_level_ring_seconds(const CostRule& rule, std::int64_t k,
                              const ClusterDescription& cluster) {
  const double share = 1 / static_cast<double>(k);
  const CostRule between{"ring", rule.bytes * share, rule.ranks / k};
  const double crowd = static_cast<double>(k) / static_cast<double>(cluster.nics) - 1;
  return closed_seconds("all_reduce", {"ring", rule.bytes, k}, host_of(cluster)) +
         closed_seconds("all_reduce", between, cluster) +
         crowd * 2 * share_of_others(between.ranks) * between.bytes / cluster.bandwidth.value;
}

}  // namespace

double closed_seconds(const std::string& kind, const CostRule& rule,
                      const ClusterDescription& cluster) {
  if (rule.ranks == 1) return 0;
  if (rule.ranks <= cluster.ranks_per_host && cluster.host_bandwidth.value > 0) {
    return closed_seconds(kind, rule, host_of(cluster));
  }
  if (rule.algorithm == "two_level_ring") {
    const std::int64_t k = cluster.ranks_per_host;
    if (k > 1 && rule.ranks % k == 0) return two_level_ring_seconds(rule, k, cluster);
  }
  const auto [messages, bytes] = rounds_of(kind, rule);
  const ClusterSegment each = cluster.segment_of(bytes / messages);
  return messages * (each.latency + 2 * cluster.overhead.value) + bytes / each.bandwidth;
}

double copy_seconds(double bytes, const ClusterDescription& cluster) {
  return cluster.copy_bandwidth.value > 0 ? bytes / cluster.copy_bandwidth.value : 0;
}

CostModel closed_cost(const ClusterDescription& cluster) {
  return [cluster](const Operation& operation) {
    return operation.kind == "copy" ? copy_seconds(operation.rule->bytes, cluster)
                                    : closed_seconds(operation.kind, *operation.rule, cluster);
  };
}

}  // namespace d5
