// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/networks/cluster_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "prediction/networks/cluster_values.hpp"

namespace d5 {
namespace {

using detail::expected_value;
using detail::fail_cluster;
using detail::is_value;
using detail::read_choice;
using detail::read_count;
using detail::read_levels;
using detail::read_segments;
using detail::read_value;
using detail::read_word;
using detail::YamlNode;

constexpr const char* kCarriedClusters = "data/clusters";

struct CountRow {
  const char* key;
  std::int64_t ClusterDescription::* member;
};
constexpr std::array kDescriptionCounts = {
    CountRow{"hosts", &ClusterDescription::hosts},
    CountRow{"ranks_per_host", &ClusterDescription::ranks_per_host},
    CountRow{"nics", &ClusterDescription::nics},
};
/// A word of the file, one of `known` unless that is empty.
struct WordRow {
  const char* key;
  std::string ClusterDescription::* member;
  std::vector<std::string> known;
};
const auto& description_words() {
  static const std::array rows = {
      WordRow{"name", &ClusterDescription::name, {}},
      WordRow{"summary", &ClusterDescription::summary, {}},
      WordRow{"topology",
              &ClusterDescription::topology,
              {"star", "levels", "memory", "fat_tree", "torus", "dragonfly"}},
      WordRow{"placement", &ClusterDescription::placement, {"by_slot", "by_node"}},
      WordRow{"inside", &ClusterDescription::inside, {"switch", "all_to_all", "ring"}},
  };
  return rows;
}

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

template <class Rows>
const auto* find_row(const Rows& rows, const std::string& key) {
  const auto place = std::ranges::find_if(rows, [&](const auto& row) { return key == row.key; });
  return place == rows.end() ? nullptr : &*place;
}

ClusterFigure read_figure(const std::string& file, const FigureRow& row, const YamlNode& node) {
  const YamlNode* value = node.find("value");
  const YamlNode* source = node.find("source");
  if (!value || !source || node.entries.size() != 2) {
    fail_cluster(file, node.line,
                 fmt::format("'{}' is not a figure; expected {{value: {}, source: a data sheet}}",
                             row.key, row.example));
  }
  ClusterFigure figure{0, read_word(file, "source", *source)};
  figure.value = read_value(file, row.key, row.is_rate(), *value);
  return figure;
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
  for (const FigureRow& row : kFigures) {
    const bool above_zero = row.is_rate() && row.must_be;  // others: 0 is none
    const double value = (cluster.*row.member).value;
    if (is_value(value, above_zero)) continue;
    throw ValueError(fmt::format("cluster '{}': {} is {}; {}", printable(cluster.name), row.key,
                                 value, expected_value(above_zero)));
  }
  if (ranks >= 1 && ranks <= cluster.most_ranks()) return;
  throw ValueError(fmt::format(
      "cluster '{}' has room for {} ranks ({} hosts of {}), but {} were requested; raise 'hosts' "
      "in its file, or simulate fewer",
      printable(cluster.name), cluster.most_ranks(), cluster.hosts, cluster.ranks_per_host, ranks));
}

ClusterDescription parse_cluster_description(const std::string& text, const std::string& file) {
  const YamlNode root = detail::parse_yaml(text, file);
  if (!root.is_map())
    fail_cluster(file, 1, "is not a map; expected name:, latency:, bandwidth: ...");
  ClusterDescription cluster;
  cluster.file = file;
  std::vector<std::string> known = {"topology_options", "segments", "levels", "rails"};
  for (const CountRow& row : kDescriptionCounts) known.emplace_back(row.key);
  for (const WordRow& row : description_words()) known.emplace_back(row.key);
  for (const FigureRow& row : kFigures) known.emplace_back(row.key);
  for (const auto& [key, node] : root.entries) {
    if (const auto* row = find_row(kFigures, key)) {
      cluster.*row->member = read_figure(file, *row, node);
    } else if (const auto* count = find_row(kDescriptionCounts, key)) {
      cluster.*count->member = read_count(file, key, node);
    } else if (key == "segments") {
      cluster.segments = read_segments(file, node);
    } else if (key == "topology_options") {
      for (const auto& [option, value] : node.entries) {
        cluster.topology_options.set(option, read_word(file, option, value),
                                     fmt::format("{}:{}", printable(file), value.line));
      }
    } else if (key == "levels") {
      cluster.levels = read_levels(file, node);
    } else if (key == "rails") {
      cluster.rails = read_choice(file, key, node, {"true", "false"}) == "true";
    } else if (const auto* word = find_row(description_words(), key)) {
      cluster.*word->member = read_choice(file, key, node, word->known);
    } else {
      (void)read_choice(file, "key", {.line = node.line, .text = key, .entries = {}},
                        known);  // throws
    }
  }
  if (cluster.name.empty()) fail_cluster(file, root.line, "has no 'name'");
  for (const FigureRow& row : kFigures) {
    if (row.must_be && !root.find(row.key)) {
      fail_cluster(file, root.line, fmt::format("has no '{}'", row.key));
    }
  }
  if ((cluster.topology == "levels") == cluster.levels.empty()) {
    fail_cluster(file, root.line, "expected both 'topology: levels' and 'levels', or neither");
  }
  if (cluster.nics > cluster.ranks_per_host || cluster.ranks_per_host % cluster.nics != 0) {
    fail_cluster(
        file, root.line,
        fmt::format("{} nics for {} ranks a host; expected a number that divides the ranks",
                    cluster.nics, cluster.ranks_per_host));
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
  const ClusterDescription usual;
  for (const CountRow& row : kDescriptionCounts) {
    const bool always = row.member != &ClusterDescription::nics;
    if (!always && cluster.*row.member == usual.*row.member) continue;
    yaml << row.key << ": " << cluster.*row.member << "\n";
  }
  for (const WordRow& row : description_words()) {
    const bool always = row.member == &ClusterDescription::topology;
    if (row.known.empty() || (!always && cluster.*row.member == usual.*row.member)) continue;
    yaml << row.key << ": " << cluster.*row.member << "\n";
  }
  if (cluster.rails) yaml << "rails: true\n";
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
  if (!cluster.levels.empty()) yaml << "levels:\n";
  for (const ClusterLevel& level : cluster.levels) {
    yaml << fmt::format("  - {{hosts: {}, oversubscription: {}, latency: {}, source: {}}}\n",
                        level.hosts, level.oversubscription, level.latency, quoted(level.source));
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
