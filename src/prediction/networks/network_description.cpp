// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/networks/network_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

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

constexpr const char* kCarriedNetworks = "data/networks";
constexpr std::array kTopologies = {"star", "memory", "fat_tree", "torus", "dragonfly"};

/// A figure of the file: its member, and whether it is a rate (above 0) or a number (0 or more).
struct FigureRow {
  const char* key;
  NetworkFigure NetworkDescription::* member;
  const char* example;
  bool must_be;
  [[nodiscard]] bool is_rate() const { return std::string_view(example).ends_with("/s"); }
};
constexpr std::array kFigures = {
    FigureRow{"latency", &NetworkDescription::latency, "50us", true},
    FigureRow{"bandwidth", &NetworkDescription::bandwidth, "1.25GB/s", true},
    FigureRow{"overhead", &NetworkDescription::overhead, "50us", false},
    FigureRow{"end_bandwidth", &NetworkDescription::end_bandwidth, "1.25GB/s", false},
    FigureRow{"medium_share", &NetworkDescription::medium_share, "0.25", false},
    FigureRow{"signal", &NetworkDescription::signal, "50us", false},
    FigureRow{"look", &NetworkDescription::look, "50us", false},
    FigureRow{"spread", &NetworkDescription::spread, "0.05", false},
    FigureRow{"calibrated_bytes", &NetworkDescription::calibrated_bytes, "4194304", false},
    FigureRow{"host_latency", &NetworkDescription::host_latency, "50us", false},
    FigureRow{"host_bandwidth", &NetworkDescription::host_bandwidth, "1.25GB/s", false},
    FigureRow{"copy_bandwidth", &NetworkDescription::copy_bandwidth, "1.25GB/s", false},
};

[[noreturn]] void fail(const std::string& file, int line, const std::string& what) {
  throw FormatError(fmt::format("{}:{}: {}", printable(file), line, what));
}

[[noreturn]] void fail_unknown(const std::string& file, int line, const char* what,
                               const std::string& name, const std::vector<std::string>& known) {
  try {
    throw_unknown_name(fmt::format("{}:{}: {}", printable(file), line, what), name, known);
  } catch (const NotFound& error) {
    throw FormatError(error.what());
  }
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

NetworkFigure read_figure(const std::string& file, const FigureRow& row, const YamlNode& node) {
  const YamlNode* value = node.find("value");
  const YamlNode* source = node.find("source");
  if (!value || !source || node.entries.size() != 2) {
    fail(file, node.line,
         fmt::format("'{}' is not a figure; expected {{value: {}, source: a data sheet}}", row.key,
                     row.example));
  }
  NetworkFigure figure{0, scalar(file, "source", *source)};
  figure.value = read_value(file, row.key, row.is_rate(), *value);
  return figure;
}

/// Reads segments of increasing size.
std::vector<NetworkSegment> read_segments(const std::string& file, const YamlNode& node) {
  if (!node.is_list()) fail(file, node.line, "'segments' is not a list");
  std::vector<NetworkSegment> segments;
  for (const auto& [place, each] : node.entries) {
    const YamlNode *bytes = each.find("bytes"), *latency = each.find("latency"),
                   *bandwidth = each.find("bandwidth"), *source = each.find("source");
    if (!bytes || !latency || !bandwidth || !source || each.entries.size() != 4) {
      fail(file, each.line,
           fmt::format("segment {} is invalid; expected {{bytes: 64KiB, latency: 50us, bandwidth: "
                       "1.25GB/s, source: a data sheet}}",
                       place));
    }
    NetworkSegment segment;
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

NetworkSegment NetworkDescription::segment_of(double bytes) const {
  NetworkSegment found{0, latency.value, bandwidth.value, latency.source};
  for (const NetworkSegment& segment : segments) {
    if (static_cast<double>(segment.bytes) <= bytes) found = segment;
  }
  return found;
}

void expect_places(const NetworkDescription& network, int ranks) {
  if (ranks >= 1 && ranks <= network.most_ranks()) return;
  throw ValueError(fmt::format(
      "network '{}' has room for {} ranks ({} hosts of {}), but {} were requested; raise 'hosts' "
      "in its file, or simulate fewer",
      printable(network.name), network.most_ranks(), network.hosts, network.ranks_per_host, ranks));
}

NetworkDescription parse_network_description(const std::string& text, const std::string& file) {
  const YamlNode root = detail::parse_yaml(text, file);
  if (!root.is_map()) fail(file, 1, "is not a map; expected name:, latency:, bandwidth: ...");
  NetworkDescription network;
  network.file = file;
  std::vector<std::string> known = {"name",     "summary",          "hosts",   "ranks_per_host",
                                    "topology", "topology_options", "segments"};
  for (const FigureRow& row : kFigures) known.emplace_back(row.key);
  for (const auto& [key, node] : root.entries) {
    const auto row =
        std::ranges::find_if(kFigures, [&](const FigureRow& each) { return key == each.key; });
    if (row != kFigures.end()) {
      network.*row->member = read_figure(file, *row, node);
    } else if (key == "hosts" || key == "ranks_per_host") {
      (key == "hosts" ? network.hosts : network.ranks_per_host) = read_count(file, key, node);
    } else if (key == "segments") {
      network.segments = read_segments(file, node);
    } else if (key == "topology_options") {
      for (const auto& [option, value] : node.entries) {
        network.topology_options.set(option, scalar(file, option, value),
                                     fmt::format("{}:{}", printable(file), value.line));
      }
    } else if (key == "name" || key == "summary" || key == "topology") {
      (key == "name"      ? network.name
       : key == "summary" ? network.summary
                          : network.topology) = scalar(file, key, node);
    } else {
      fail_unknown(file, node.line, "key", key, known);
    }
    if (key == "topology" && std::ranges::none_of(kTopologies, [&](const char* each) {
          return network.topology == each;
        })) {
      fail_unknown(file, node.line, "topology", network.topology,
                   {kTopologies.begin(), kTopologies.end()});
    }
  }
  if (network.name.empty()) fail(file, root.line, "has no 'name'");
  for (const FigureRow& row : kFigures) {
    if (row.must_be && !root.find(row.key)) {
      fail(file, root.line, fmt::format("has no '{}'", row.key));
    }
  }
  return network;
}

std::string to_yaml(const NetworkDescription& network) {
  const auto quoted = [](const std::string& text) {  // JSON's strings are YAML's
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::ostringstream yaml;
  yaml << "name: " << quoted(network.name) << "\n";
  if (!network.summary.empty()) yaml << "summary: " << quoted(network.summary) << "\n";
  yaml << "hosts: " << network.hosts << "\nranks_per_host: " << network.ranks_per_host
       << "\ntopology: " << network.topology << "\n";
  if (!network.topology_options.values().empty()) {
    yaml << "topology_options:\n";
    for (const auto& [option, value] : network.topology_options.values()) {
      yaml << "  " << quoted(option) << ": " << quoted(value) << "\n";
    }
  }
  for (const FigureRow& row : kFigures) {
    const NetworkFigure& figure = network.*row.member;
    if (figure.source.empty()) continue;
    yaml << fmt::format("{}: {{value: {}{}, source: {}}}\n", row.key, figure.value,
                        row.is_rate() ? "/s" : "", quoted(figure.source));
  }
  if (!network.segments.empty()) yaml << "segments:\n";
  for (const NetworkSegment& segment : network.segments) {
    yaml << fmt::format("  - {{bytes: {}, latency: {}, bandwidth: {}/s, source: {}}}\n",
                        segment.bytes, segment.latency, segment.bandwidth, quoted(segment.source));
  }
  return yaml.str();
}

NetworkDescription load_network_description(const std::string& file_or_name) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 16;
  const std::string path = file_or_carried("network", kCarriedNetworks, file_or_name);
  return parse_network_description(read_file(path, kMostBytes), file_or_name);
}

NetworkDescription network_of_wire(const std::string& words) {
  const WireOptions wire = wire_of(words);
  NetworkDescription network;
  network.name = "wire " + to_string(wire);
  network.hosts = 1'000'000;
  network.latency = {std::chrono::duration<double>(wire.latency).count(), "a modelled wire"};
  network.bandwidth = {wire.bytes_per_second, "a modelled wire"};
  return network;
}

std::vector<std::string> carried_networks() { return carried_names(kCarriedNetworks); }

}  // namespace d5
