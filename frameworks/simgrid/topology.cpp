// SPDX-License-Identifier: Apache-2.0
#include "topology.hpp"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <span>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::simgrid {
namespace {

constexpr double kMostHosts = 1'000'000;

[[noreturn]] void fail(const ClusterDescription& cluster, const std::string& what) {
  throw ValueError(fmt::format("network '{}': a {} of {}", printable(cluster.name),
                               printable(cluster.topology), what));
}

/// Parses a fixed number of integers. `least` 0: any.
std::vector<unsigned> whole(const ClusterDescription& cluster, const char* option,
                            const std::vector<double>& numbers, std::size_t wanted) {
  if (numbers.empty() || (wanted > 0 && numbers.size() != wanted)) {
    fail(cluster, fmt::format("{} numbers in '{}'; expected {}", numbers.size(), option,
                              wanted > 0 ? std::to_string(wanted) : "one or more"));
  }
  std::vector<unsigned> result;
  for (const double number : numbers) {
    if (number < 1 || number > kMostHosts || number != std::floor(number)) {
      fail(cluster, fmt::format("{} in '{}'; expected whole numbers of 1 to {}", number, option,
                                kMostHosts));
    }
    result.push_back(static_cast<unsigned>(number));
  }
  return result;
}

std::int64_t product(const ClusterDescription& cluster, std::span<const unsigned> factors) {
  double hosts = 1;
  for (const unsigned factor : factors) hosts *= factor;
  if (hosts > kMostHosts) {
    fail(cluster, fmt::format("{} hosts; there can be {}", hosts, kMostHosts));
  }
  return static_cast<std::int64_t>(hosts);
}

struct NoOptions {
  void declare(OptionList&) {}
};

struct FatTreeOptions {
  std::vector<double> down, up, count;
  void declare(OptionList& options) {
    options.add("down", down, "ports downwards at each level, from the hosts up");
    options.add("up", up, "ports upwards of each node below a level");
    options.add("count", count, "parallel links between two nodes, at each level");
  }
};

struct TorusOptions {
  std::vector<double> dimensions;
  void declare(OptionList& options) {
    options.add("dimensions", dimensions, "number of hosts along each dimension");
  }
};

struct DragonflyOptions {
  std::vector<double> groups, chassis, routers;
  std::int64_t nodes = 1;
  void declare(OptionList& options) {
    options.add("groups", groups, "number of groups, links between two groups");
    options.add("chassis", chassis, "chassis per group, links between two chassis");
    options.add("routers", routers, "routers per chassis, links between two routers");
    options.add("nodes", nodes, "nodes per router", {.least = 1, .most = kMostHosts});
  }
};

Topology star(const ClusterDescription& cluster, const Settings& settings) {
  (void)read_options<NoOptions>(settings);
  return {.hosts = cluster.hosts};
}

Topology fat_tree(const ClusterDescription& cluster, const Settings& settings) {
  const auto options = read_options<FatTreeOptions>(settings);
  Topology tree{.kind = Topology::Kind::fat_tree};
  tree.down = whole(cluster, "down", options.down, 0);
  tree.up = whole(cluster, "up", options.up, tree.down.size());
  tree.count = whole(cluster, "count", options.count, tree.down.size());
  tree.hosts = product(cluster, tree.down);
  for (std::size_t level = 0; level < tree.down.size(); ++level) {
    if (tree.down[level] > 1) tree.longest = 2 * static_cast<int>(level + 1);
  }
  for (std::size_t level = tree.down.size(); level-- > 0;) {
    if (tree.down[level] > 1) tree.shortest = 2 * static_cast<int>(level + 1);
  }
  return tree;
}

Topology torus(const ClusterDescription& cluster, const Settings& settings) {
  const auto options = read_options<TorusOptions>(settings);
  const auto dimensions = whole(cluster, "dimensions", options.dimensions, 0);
  Topology result{.kind = Topology::Kind::torus, .longest = 0, .shortest = 1};
  result.dimensions.assign(dimensions.begin(), dimensions.end());
  result.hosts = product(cluster, dimensions);
  for (const unsigned hosts : dimensions) result.longest += static_cast<int>(hosts / 2);
  if (result.longest == 0) result.longest = 1;
  return result;
}

Topology dragonfly(const ClusterDescription& cluster, const Settings& settings) {
  const auto options = read_options<DragonflyOptions>(settings);
  const auto level = [&](const char* option, const std::vector<double>& numbers) {
    const auto both = whole(cluster, option, numbers, 2);
    return Topology::Level{both[0], both[1]};
  };
  Topology result{.kind = Topology::Kind::dragonfly};
  result.groups = level("groups", options.groups);
  result.chassis = level("chassis", options.chassis);
  result.routers = level("routers", options.routers);
  result.nodes = static_cast<unsigned>(options.nodes);
  // The exit of a group is the router whose index in its chassis is the other group's number.
  if (result.groups.number > result.routers.number) {
    fail(cluster,
         fmt::format(
             "{} groups and {} routers per chassis; expected at least as many routers as groups",
             result.groups.number, result.routers.number));
  }
  const std::array factors = {result.groups.number, result.chassis.number, result.routers.number,
                              result.nodes};
  result.hosts = product(cluster, factors);
  // Links to the router and from it; to another router of the chassis and to another chassis, once
  // in each of two groups; and between the groups.
  const int inside = (result.routers.number > 1 ? 1 : 0) + (result.chassis.number > 1 ? 1 : 0);
  result.longest = 2 + (result.groups.number > 1 ? 2 * inside + 1 : inside);
  return result;
}

struct TopologyRow {
  const char* name;
  Topology (*read)(const ClusterDescription&, const Settings&);
};
constexpr std::initializer_list<TopologyRow> kTopologies = {
    {"star", star}, {"fat_tree", fat_tree}, {"torus", torus}, {"dragonfly", dragonfly}};

}  // namespace

Topology read_topology(const ClusterDescription& cluster) {
  const std::string who = fmt::format("network '{}'", printable(cluster.name));
  std::vector<std::string> known;
  for (const auto& [name, read] : kTopologies) {
    known.emplace_back(name);
    if (cluster.topology != name) continue;
    Topology topology = read(cluster, cluster.topology_options.owned_by(who));
    if (topology.hosts < cluster.hosts) {
      fail(cluster, fmt::format("{} hosts, and 'hosts' says {}; make them agree", topology.hosts,
                                cluster.hosts));
    }
    return topology;
  }
  throw_unknown_name(who + ": topology", cluster.topology, known);
}

}  // namespace d5::simgrid
