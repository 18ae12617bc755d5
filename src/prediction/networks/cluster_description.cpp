// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/networks/cluster_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/entries/unknown_name.hpp"
#include "core/parsing/yaml_tree.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"

namespace d5 {
namespace {

using detail::YamlNode;

constexpr const char* kCarriedClusters = "data/clusters";
constexpr std::array kTopologies = {"star", "memory", "fat_tree", "torus", "dragonfly"};

/// A figure of the file: its member, and whether it is a rate (above 0) or a number (0 or more).
struct FigureRow {
  const char* key;
  ClusterFigure ClusterDescription::* member;
  const char* example;
  bool must_be;
  [[nodiscard]] bool is_rate() const { return std::string_view(example).ends_with("/s"); }
};
constexpr std::array kFigures = {
    FigureRow{"latency", &ClusterDescription::latency, "50us", true},
    FigureRow{"bandwidth", &ClusterDescription::bandwidth, "1.25GB/s", true},
    FigureRow{"overhead", &ClusterDescription::overhead, "50us", false},
    FigureRow{"end_bandwidth", &ClusterDescription::end_bandwidth, "1.25GB/s", false},
    FigureRow{"medium_share", &ClusterDescription::medium_share, "0.25", false},
    FigureRow{"signal", &ClusterDescription::signal, "50us", false},
    FigureRow{"look", &ClusterDescription::look, "50us", false},
    FigureRow{"spread", &ClusterDescription::spread, "0.05", false},
    FigureRow{"calibrated_bytes", &ClusterDescription::calibrated_bytes, "4194304", false},
    FigureRow{"host_latency", &ClusterDescription::host_latency, "50us", false},
    FigureRow{"host_bandwidth", &ClusterDescription::host_bandwidth, "1.25GB/s", false},
    FigureRow{"copy_bandwidth", &ClusterDescription::copy_bandwidth, "1.25GB/s", false},
};

[[noreturn]] void fail(const std::string& file, int line, const std::string& what) {
  throw FormatError(fmt::format("{}:{}: {}", printable(file), line, what));
}

[[noreturn]] void fail_unknown(const std::string& file, int line, const char* what,
                               const std::string& name, const std::vector<std::string>& known) {
  throw FormatError(
      detail::unknown_name(fmt::format("{}:{}: {}", printable(file), line, what), name, known));
}

const std::string& scalar(const std::string& file, const std::string& key, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar || node.text.empty()) {
    fail(file, node.line, fmt::format("'{}' is not a single word or number", printable(key)));
  }
  return node.text;
}

/// "50us"; digits alone are seconds, so that a fitted value keeps all of its digits.
double value_of(const std::string& text, bool is_rate) {
  std::string_view number = text;
  if (is_rate && number.ends_with("/s")) number.remove_suffix(2);
  double value = 0;
  const auto end = number.data() + number.size();
  if (const auto read = std::from_chars(number.data(), end, value);
      read.ec == std::errc() && read.ptr == end) {
    return value;
  }
  if (!is_rate) return duration_seconds(text);
  if (!text.ends_with("/s")) {
    throw ValueError(
        fmt::format("'{}' is not a rate; expected one such as 1.25GB/s", printable(text)));
  }
  return static_cast<double>(byte_count(std::string(number)));
}

/// Reads a rate above 0, or a number of 0 or more.
double read_value(const std::string& file, const char* key, bool is_rate, const YamlNode& node) {
  double value = 0;
  try {
    value = value_of(scalar(file, key, node), is_rate);
  } catch (const ValueError& error) {
    fail(file, node.line, fmt::format("{}: {}", key, error.what()));
  }
  const bool holds = is_rate ? value > 0 : value >= 0;
  if (!holds || value > 1e30) {
    fail(
        file, node.line,
        fmt::format("{} is {}; expected {} 0", key, node.text, is_rate ? "more than" : "at least"));
  }
  return value;
}

ClusterFigure read_figure(const std::string& file, const FigureRow& row, const YamlNode& node) {
  const YamlNode* value = node.find("value");
  const YamlNode* source = node.find("source");
  if (!value || !source || node.entries.size() != 2) {
    fail(file, node.line,
         fmt::format("'{}' is not a figure; expected {{value: {}, source: a data sheet}}", row.key,
                     row.example));
  }
  ClusterFigure figure{0, scalar(file, "source", *source)};
  figure.value = read_value(file, row.key, row.is_rate(), *value);
  return figure;
}

/// Reads segments of increasing size.
std::vector<ClusterSegment> read_segments(const std::string& file, const YamlNode& node) {
  if (!node.is_list()) fail(file, node.line, "'segments' is not a list");
  std::vector<ClusterSegment> segments;
  for (const auto& [place, each] : node.entries) {
    const YamlNode *bytes = each.find("bytes"), *latency = each.find("latency"),
                   *bandwidth = each.find("bandwidth"), *source = each.find("source");
    if (!bytes || !latency || !bandwidth || !source || each.entries.size() != 4) {
      fail(file, each.line,
           fmt::format("segment {} is invalid; expected {{bytes: 64KiB, latency: 50us, bandwidth: "
                       "1.25GB/s, source: a data sheet}}",
                       place));
    }
    ClusterSegment segment;
    try {
      segment.bytes = static_cast<std::int64_t>(byte_count(scalar(file, "bytes", *bytes)));
    } catch (const ValueError& error) {
      fail(file, bytes->line, fmt::format("bytes: {}", error.what()));
    }
    if (segment.bytes <= (segments.empty() ? 0 : segments.back().bytes)) {
      fail(file, bytes->line,
           fmt::format(
               "a segment begins at {} bytes; expected more than 0 and more than the one before",
               segment.bytes));
    }
    segment.latency = read_value(file, "latency", false, *latency);
    segment.bandwidth = read_value(file, "bandwidth", true, *bandwidth);
    segment.source = scalar(file, "source", *source);
    segments.push_back(std::move(segment));
  }
  return segments;
}

std::int64_t read_count(const std::string& file, const std::string& key, const YamlNode& node) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::string& text = scalar(file, key, node);
  std::int64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || count < 1 ||
      count > kMost) {
    fail(
        file, node.line,
        fmt::format("'{}' is {}; expected a whole number of 1 to {}", key, printable(text), kMost));
  }
  return count;
}

}  // namespace

ClusterSegment ClusterDescription::segment_of(double bytes) const {
  ClusterSegment found{0, latency.value, bandwidth.value, latency.source};
  for (const ClusterSegment& segment : segments) {
    if (static_cast<double>(segment.bytes) <= bytes) found = segment;
  }
  return found;
}

void expect_places(const ClusterDescription& cluster, int ranks) {
  if (ranks >= 1 && ranks <= cluster.most_ranks()) return;
  throw ValueError(fmt::format(
      "cluster '{}' has room for {} ranks ({} hosts of {}), but {} were requested; raise 'hosts' "
      "in its file, or simulate fewer",
      printable(cluster.name), cluster.most_ranks(), cluster.hosts, cluster.ranks_per_host, ranks));
}

ClusterDescription parse_cluster_description(const std::string& text, const std::string& file) {
  const YamlNode root = detail::parse_yaml(text, file);
  if (!root.is_map()) fail(file, 1, "is not a map; expected name:, latency:, bandwidth: ...");
  ClusterDescription cluster;
  cluster.file = file;
  std::vector<std::string> known = {"name",     "summary",          "hosts",   "ranks_per_host",
                                    "topology", "topology_options", "segments"};
  for (const FigureRow& row : kFigures) known.emplace_back(row.key);
  for (const auto& [key, node] : root.entries) {
    const auto row =
        std::ranges::find_if(kFigures, [&](const FigureRow& each) { return key == each.key; });
    if (row != kFigures.end()) {
      cluster.*row->member = read_figure(file, *row, node);
    } else if (key == "hosts" || key == "ranks_per_host") {
      (key == "hosts" ? cluster.hosts : cluster.ranks_per_host) = read_count(file, key, node);
    } else if (key == "segments") {
      cluster.segments = read_segments(file, node);
    } else if (key == "topology_options") {
      for (const auto& [option, value] : node.entries) {
        cluster.topology_options.set(option, scalar(file, option, value),
                                     fmt::format("{}:{}", printable(file), value.line));
      }
    } else if (key == "name" || key == "summary" || key == "topology") {
      (key == "name"      ? cluster.name
       : key == "summary" ? cluster.summary
                          : cluster.topology) = scalar(file, key, node);
    } else {
      fail_unknown(file, node.line, "key", key, known);
    }
    if (key == "topology" && std::ranges::none_of(kTopologies, [&](const char* each) {
          return cluster.topology == each;
        })) {
      fail_unknown(file, node.line, "topology", cluster.topology,
                   {kTopologies.begin(), kTopologies.end()});
    }
  }
  if (cluster.name.empty()) fail(file, root.line, "has no 'name'");
  for (const FigureRow& row : kFigures) {
    if (row.must_be && !root.find(row.key)) {
      fail(file, root.line, fmt::format("has no '{}'", row.key));
    }
  }
  return cluster;
}

std::string to_yaml(const ClusterDescription& cluster) {
  const auto quoted = [](const std::string& text) {  // JSON's strings are YAML's
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::ostringstream yaml;
  yaml << "name: " << quoted(cluster.name) << "\n";
  if (!cluster.summary.empty()) yaml << "summary: " << quoted(cluster.summary) << "\n";
  yaml << "hosts: " << cluster.hosts << "\nranks_per_host: " << cluster.ranks_per_host
       << "\ntopology: " << cluster.topology << "\n";
  if (!cluster.topology_options.values().empty()) {
    yaml << "topology_options:\n";
    for (const auto& [option, value] : cluster.topology_options.values()) {
      yaml << "  " << quoted(option) << ": " << quoted(value) << "\n";
    }
  }
  for (const FigureRow& row : kFigures) {
    const ClusterFigure& figure = cluster.*row.member;
    if (figure.source.empty()) continue;
    yaml << fmt::format("{}: {{value: {}{}, source: {}}}\n", row.key, figure.value,
                        row.is_rate() ? "/s" : "", quoted(figure.source));
  }
  if (!cluster.segments.empty()) yaml << "segments:\n";
  for (const ClusterSegment& segment : cluster.segments) {
    yaml << fmt::format("  - {{bytes: {}, latency: {}, bandwidth: {}/s, source: {}}}\n",
                        segment.bytes, segment.latency, segment.bandwidth, quoted(segment.source));
  }
  return yaml.str();
}

ClusterDescription load_cluster_description(const std::string& file_or_name) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 16;
  const std::string path = file_or_carried("cluster", kCarriedClusters, file_or_name);
  return parse_cluster_description(read_file(path, kMostBytes), file_or_name);
}

ClusterDescription cluster_of_wire(const std::string& words) {
  const WireOptions wire = wire_of(words);
  ClusterDescription cluster;
  cluster.name = "wire " + to_string(wire);
  cluster.hosts = 1'000'000;
  cluster.latency = {std::chrono::duration<double>(wire.latency).count(), "a modelled wire"};
  cluster.bandwidth = {wire.bytes_per_second, "a modelled wire"};
  return cluster;
}

std::vector<std::string> carried_clusters() { return carried_names(kCarriedClusters); }

}  // namespace d5
