// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/settings.hpp"

namespace d5 {

/// A figure of a cluster with its source: a data sheet, a paper's table, a calibration.
struct ClusterFigure {
  double value = 0;
  std::string source;
};

/// Latency and bandwidth of messages from `bytes` up to the next segment, such as those of the
/// rendezvous protocol.
struct ClusterSegment {
  std::int64_t bytes = 0;
  double latency = 0, bandwidth = 0;
  std::string source;
};

/// A level of switches above the hosts, from the leaves up.
struct ClusterLevel {
  std::int64_t hosts = 1;       ///< below one switch
  double oversubscription = 1;  ///< bandwidth of what is below a switch over that of its uplinks
  double latency = 0;           ///< host to host, of messages that leave the switch
  std::string source;
};

/// A cluster, as described in a file. Units: bytes per second in one direction, s.
///
///     name: ethernet-10g
///     summary: 10 Gbit/s Ethernet, one switch
///     hosts: 128
///     ranks_per_host: 1
///     topology: star
///     latency: {value: 50us, source: "..."}
///     bandwidth: {value: 1.25GB/s, source: "..."}
///     overhead: {value: 2us, source: "..."}
///     segments:
///       - {bytes: 64KiB, latency: 60us, bandwidth: 1.2GB/s, source: "..."}
struct ClusterDescription {
  std::string name;
  std::string summary;
  std::int64_t hosts = 1;           ///< maximum number of hosts
  std::int64_t ranks_per_host = 1;  ///< consecutive ranks share a host
  /// Order of ranks: by_slot fills one host after the other; by_node deals them out to as many
  /// hosts.
  std::string placement = "by_slot";
  std::int64_t nics = 1;  ///< ports of a host; a host's ranks share them equally
  /// Links between ranks of one host (`host_bandwidth`): switch: a port a rank; all_to_all: a link
  /// a pair; ring: links to both neighbours.
  std::string inside = "switch";
  /// star: one non-blocking switch; levels: `levels` of switches; memory: the shared memory of one
  /// machine; others: SimGrid's.
  std::string topology = "star";
  std::vector<ClusterLevel> levels;
  /// Whether the ports of one number on all hosts of a leaf share a leaf switch (a rail).
  bool rails = false;
  Settings topology_options;  ///< further options of the topology: "levels", "down" ...
  ClusterFigure latency;      ///< latency of the first byte, host to host
  ClusterFigure bandwidth;    ///< bandwidth of a host's port
  ClusterFigure overhead;     ///< CPU overhead per message at each end (LogGP's o); 0: none
  /// Bandwidth at which the processor copies a message at each end; 0: no copy.
  ClusterFigure end_bandwidth;
  /// Share of a common medium (such as memory) that one message uses alone; 0: messages share only
  /// ports.
  ClusterFigure medium_share;
  ClusterFigure signal;  ///< time until a rank sees another's write to shared memory
  ClusterFigure look;    ///< processor time of an unsuccessful poll; 0: none
  /// Limit of `spread`, above which the machine was busy during calibration.
  static constexpr double kBusySpread = 0.5;
  ClusterFigure spread;                  ///< relative variation of message times
  ClusterFigure calibrated_bytes;        ///< largest message of the calibration; 0: not calibrated
  ClusterFigure host_latency;            ///< between ranks of one host; 0: none
  ClusterFigure host_bandwidth;          ///< between ranks of one host; 0: as between hosts
  ClusterFigure copy_bandwidth;          ///< between device and host; 0: no copies
  std::vector<ClusterSegment> segments;  ///< sorted by size; smaller messages use the figures above
  std::string file;                      ///< source file, for messages

  /// Latency and bandwidth of a message between hosts, by its size.
  [[nodiscard]] ClusterSegment segment_of(double bytes) const;
  /// The node of one of `ranks` ranks; ranks of one node share memory.
  [[nodiscard]] std::int64_t node_of(std::int64_t rank, std::int64_t ranks) const {
    if (topology == "memory") return 0;
    return placement == "by_slot" ? rank / ranks_per_host
                                  : rank % ((ranks + ranks_per_host - 1) / ranks_per_host);
  }
  /// Whether the built-in network models know the topology.
  [[nodiscard]] bool has_own_topology() const {
    return topology == "star" || topology == "memory" || topology == "levels";
  }
  [[nodiscard]] std::int64_t most_ranks() const { return hosts * ranks_per_host; }
};

/// Throws: ValueError unless the cluster has room for `ranks` ranks, 1 or more, and its figures are
/// numbers of 0 or more, its bandwidth above 0.
void expect_places(const ClusterDescription& cluster, int ranks);

/// Throws: FormatError with file and line for an unknown key, a figure without source, and a
/// missing or zero bandwidth; ValueError for an invalid time or rate.
[[nodiscard]] ClusterDescription parse_cluster_description(const std::string& text,
                                                           const std::string& file);
/// Reads a file, or a built-in description by name. Throws: as above; NotFound, IoError.
[[nodiscard]] ClusterDescription load_cluster_description(const std::string& file_or_name);
/// A cluster like that of `WireModel`, from the text of `wire_of`, "50us,1GB/s": one port of this
/// latency and bandwidth at each rank. Throws: ValueError.
[[nodiscard]] ClusterDescription cluster_of_wire(const std::string& words);
/// The inverse of `parse_cluster_description`.
[[nodiscard]] std::string to_yaml(const ClusterDescription& cluster);
/// Sorted names of the built-in descriptions.
[[nodiscard]] std::vector<std::string> carried_clusters();

/// Former names, for one release.
using NetworkDescription [[deprecated("d5::ClusterDescription")]] = ClusterDescription;
using NetworkFigure [[deprecated("d5::ClusterFigure")]] = ClusterFigure;
using NetworkSegment [[deprecated("d5::ClusterSegment")]] = ClusterSegment;
[[nodiscard, deprecated("d5::parse_cluster_description")]] inline ClusterDescription
parse_network_description(const std::string& text, const std::string& file) {
  return parse_cluster_description(text, file);
}
[[nodiscard, deprecated("d5::load_cluster_description")]] inline ClusterDescription
load_network_description(const std::string& file_or_name) {
  return load_cluster_description(file_or_name);
}
[[nodiscard, deprecated("d5::cluster_of_wire")]] inline ClusterDescription network_of_wire(
    const std::string& words) {
  return cluster_of_wire(words);
}
[[nodiscard, deprecated("d5::carried_clusters")]] inline std::vector<std::string>
carried_networks() {
  return carried_clusters();
}

}  // namespace d5
