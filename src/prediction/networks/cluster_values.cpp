// SPDX-License-Identifier: Apache-2.0
#include "prediction/networks/cluster_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/entries/unknown_name.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"

namespace d5::detail {
namespace {

constexpr double kMostValue = 1e30;

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

}  // namespace

void fail_cluster(const std::string& file, int line, const std::string& what) {
  throw FormatError(fmt::format("{}:{}: {}", printable(file), line, what));
}

const std::string& read_word(const std::string& file, const std::string& key,
                             const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar || node.text.empty()) {
    fail_cluster(file, node.line,
                 fmt::format("'{}' is not a single word or number", printable(key)));
  }
  return node.text;
}

const std::string& read_choice(const std::string& file, const std::string& key,
                               const YamlNode& node, const std::vector<std::string>& known) {
  const std::string& word = read_word(file, key, node);
  if (known.empty() || std::ranges::find(known, word) != known.end()) return word;
  throw FormatError(
      unknown_name(fmt::format("{}:{}: {}", printable(file), node.line, key), word, known));
}

bool is_value(double value, bool above_zero) {
  return (above_zero ? value > 0 : value >= 0) && value <= kMostValue;
}
std::string expected_value(bool above_zero) {
  return fmt::format("expected {} 0, and at most {}", above_zero ? "more than" : "at least",
                     kMostValue);
}

double read_value(const std::string& file, const char* key, bool is_rate, const YamlNode& node) {
  double value = 0;
  try {
    value = value_of(read_word(file, key, node), is_rate);
  } catch (const ValueError& error) {
    fail_cluster(file, node.line, fmt::format("{}: {}", key, error.what()));
  }
  if (!is_value(value, is_rate)) {
    fail_cluster(file, node.line,
                 fmt::format("{} is {}; {}", key, node.text, expected_value(is_rate)));
  }
  return value;
}

std::int64_t read_count(const std::string& file, const std::string& key, const YamlNode& node) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::string& text = read_word(file, key, node);
  std::int64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || count < 1 ||
      count > kMost) {
    fail_cluster(
        file, node.line,
        fmt::format("'{}' is {}; expected a whole number of 1 to {}", key, printable(text), kMost));
  }
  return count;
}

std::vector<ClusterSegment> read_segments(const std::string& file, const YamlNode& node) {
  if (!node.is_list()) fail_cluster(file, node.line, "'segments' is not a list");
  std::vector<ClusterSegment> segments;
  for (const auto& [place, each] : node.entries) {
    const YamlNode *bytes = each.find("bytes"), *latency = each.find("latency"),
                   *bandwidth = each.find("bandwidth"), *source = each.find("source");
    if (!bytes || !latency || !bandwidth || !source || each.entries.size() != 4) {
      fail_cluster(
          file, each.line,
          fmt::format("segment {} is invalid; expected {{bytes: 64KiB, latency: 50us, bandwidth: "
                      "1.25GB/s, source: a data sheet}}",
                      place));
    }
    ClusterSegment segment;
    try {
      segment.bytes = static_cast<std::int64_t>(byte_count(read_word(file, "bytes", *bytes)));
    } catch (const ValueError& error) {
      fail_cluster(file, bytes->line, fmt::format("bytes: {}", error.what()));
    }
    if (segment.bytes <= (segments.empty() ? 0 : segments.back().bytes)) {
      fail_cluster(
          file, bytes->line,
          fmt::format(
              "a segment begins at {} bytes; expected more than 0 and more than the one before",
              segment.bytes));
    }
    segment.latency = read_value(file, "latency", false, *latency);
    segment.bandwidth = read_value(file, "bandwidth", true, *bandwidth);
    segment.source = read_word(file, "source", *source);
    segments.push_back(std::move(segment));
  }
  return segments;
}

std::vector<ClusterLevel> read_levels(const std::string& file, const YamlNode& node) {
  if (!node.is_list() || node.entries.empty()) {
    fail_cluster(file, node.line, "'levels' is not a list of levels");
  }
  std::vector<ClusterLevel> levels;
  for (const auto& [place, each] : node.entries) {
    const YamlNode *hosts = each.find("hosts"), *latency = each.find("latency"),
                   *share = each.find("oversubscription"), *source = each.find("source");
    if (!hosts || !latency || !share || !source || each.entries.size() != 4) {
      fail_cluster(file, each.line,
                   fmt::format("level {} is invalid; expected {{hosts: 32, oversubscription: 2, "
                               "latency: 2us, source: a data sheet}}",
                               place));
    }
    ClusterLevel level{.hosts = read_count(file, "hosts", *hosts),
                       .oversubscription = read_value(file, "oversubscription", false, *share),
                       .latency = read_value(file, "latency", false, *latency),
                       .source = read_word(file, "source", *source)};
    if (!(level.oversubscription >= 1)) {
      fail_cluster(file, share->line,
                   fmt::format("oversubscription is {}; expected 1 or more: hosts' bandwidth over "
                               "that of their links",
                               share->text));
    }
    const std::int64_t below = levels.empty() ? 1 : levels.back().hosts;
    if (level.hosts % below != 0 || (!levels.empty() && level.hosts == below)) {
      fail_cluster(file, hosts->line,
                   fmt::format("{} hosts below a switch; expected a multiple of the {} below each "
                               "switch of the level before",
                               level.hosts, below));
    }
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace d5::detail
