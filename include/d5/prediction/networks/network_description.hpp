// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/settings.hpp"

namespace d5 {

/// A number of a network and who says so: a data sheet, a paper's table, a calibration.
struct NetworkFigure {
  double value = 0;
  std::string source;
};

/// Messages of `bytes` and more, up to the next one's, which another protocol carries: large ones
/// that wait for their receiver, say.
struct NetworkSegment {
  std::int64_t bytes = 0;
  double latency = 0, bandwidth = 0;
  std::string source;
};

/// What joins the machines of a cluster, as a file of it says. Bandwidths are of one direction, in
/// bytes a second; times are in seconds.
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
struct NetworkDescription {
  std::string name;
  std::string summary;
  std::int64_t hosts = 1;           ///< that there are at most
  std::int64_t ranks_per_host = 1;  ///< consecutive ranks share a host
  /// star: one switch that never blocks; memory: one machine's, which all ranks share; others:
  /// SimGrid's.
  std::string topology = "star";
  Settings topology_options;  ///< what else the topology needs: "levels", "down" ...
  NetworkFigure latency;      ///< of the first byte, from host to host
  NetworkFigure bandwidth;    ///< of a host's port
  NetworkFigure overhead;     ///< processor time of a message, at each end (LogP's o); 0: none
  NetworkFigure
      end_bandwidth;  ///< of a processor that moves a message, at each end; 0: it need not
  /// Of what all messages have together, the share that one takes alone, such as of memory; 0: they
  /// have nothing in common but ports.
  NetworkFigure medium_share;
  NetworkFigure signal;  ///< until a rank sees what another wrote into memory that they share
  NetworkFigure look;    ///< processor time of asking in vain whether a message is there; 0: none
  /// Of `spread`: with more, others were on the machine while it was calibrated.
  static constexpr double kBusySpread = 0.5;
  NetworkFigure spread;  ///< of messages' times: they are so much longer or shorter, as a share
  NetworkFigure calibrated_bytes;        ///< the largest message that a fit has seen; 0: it is none
  NetworkFigure host_latency;            ///< between ranks of one host; 0: none
  NetworkFigure host_bandwidth;          ///< between ranks of one host; 0: as between hosts
  NetworkFigure copy_bandwidth;          ///< between device and host; 0: gradients need no copy
  std::vector<NetworkSegment> segments;  ///< by size; what is smaller has the figures above
  std::string file;                      ///< that it was read from, for messages

  /// Of a message between hosts: latency and bandwidth by its size.
  [[nodiscard]] NetworkSegment segment_of(double bytes) const;
  /// On which node a rank is, which shares memory with that node's others.
  [[nodiscard]] std::int64_t node_of(std::int64_t rank) const {
    return topology == "memory" ? 0 : rank / ranks_per_host;
  }
  [[nodiscard]] std::int64_t most_ranks() const { return hosts * ranks_per_host; }
};

/// Throws: ValueError unless the network has places for so many ranks, 1 or more.
void expect_places(const NetworkDescription& network, int ranks);

/// Throws: FormatError with file and line: an unknown key, a figure without source, no bandwidth,
/// one of 0; ValueError for words that are no time or rate.
[[nodiscard]] NetworkDescription parse_network_description(const std::string& text,
                                                           const std::string& file);
/// A file, or the name of one that d5 carries. Throws: as above; NotFound, IoError.
[[nodiscard]] NetworkDescription load_network_description(const std::string& file_or_name);
/// Of words of `wire_of`, "50us,1GB/s": a port of this latency and bandwidth at each rank, as
/// `WireModel` delays messages. Throws: ValueError.
[[nodiscard]] NetworkDescription network_of_wire(const std::string& words);
/// The file's text, such as parse_network_description reads back.
[[nodiscard]] std::string to_yaml(const NetworkDescription& network);
/// Names, sorted.
[[nodiscard]] std::vector<std::string> carried_networks();

}  // namespace d5
