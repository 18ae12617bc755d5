// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace d5 {

/// What a record says besides its name and times: {"bytes", 4096}.
struct TraceArgument {
  std::string name = {};
  std::variant<std::int64_t, double, std::string> value;
  bool operator==(const TraceArgument&) const = default;
};

/// One thing that happened.
struct TraceRecord {
  enum class Kind : std::uint8_t {
    span,         ///< what a lane was doing; the spans of a lane nest
    overlapping,  ///< a span that may overlap any other, such as a request under way
    counter,      ///< numbers at the moment `begin_ns`: the arguments
  };
  /// For `rank` and `lane` in `Trace::add`: this rank, this thread.
  static constexpr int kMine = -1;

  Kind kind = Kind::span;
  int rank = kMine;
  int lane = kMine;          ///< of its rank
  std::uint64_t id = 0;      ///< unique within its rank, from 1; a counter has none
  std::uint64_t parent = 0;  ///< the span around it, of the same rank; 0: none
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string level = {};  ///< "operator", "network", "training", "data", "communication"
  std::string name = {};
  std::vector<TraceArgument> arguments = {};  ///< their names are not "id" or "parent"
  bool operator==(const TraceRecord&) const = default;
};

/// What draws its spans in one row: a thread, or a device's stream.
struct TraceLane {
  int rank = 0;
  int number = 0;  ///< unique within its rank
  std::string name = {};
  bool operator==(const TraceLane&) const = default;
};

/// What is added to the times of one clock to make them times of another.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t uncertainty_ns = 0;  ///< the true offset is at most so far; 0: it is one clock
  double drift = 0;                 ///< by which the offset grows a nanosecond after `since_ns`
  std::int64_t since_ns = 0;        ///< of the clock whose times are moved
  /// A time of that clock, moved.
  [[nodiscard]] std::int64_t moved(std::int64_t time_ns) const {
    const double grown = drift * static_cast<double>(time_ns - since_ns);
    return time_ns + offset_ns + std::llround(grown);
  }
  bool operator==(const ClockOffset&) const = default;
};

/// One process of a timeline.
struct TraceRank {
  int rank = 0;
  std::string host = {};
  std::uint64_t dropped = 0;  ///< older records, for which there was no room
  ClockOffset clock = {};     ///< that its times were moved by
  bool operator==(const TraceRank&) const = default;
};

/// What one or several ranks recorded, on one clock. File format: docs/reference/file_formats.md,
/// "Trace".
///
///     Timeline all = read_timeline("rank0.json");
///     all.merge(read_timeline("rank1.json"), {.offset_ns = -1500});
///     write_timeline(all, "all.json");  // ui.perfetto.dev opens it
struct Timeline {
  static constexpr int kSchema = 1;
  std::vector<TraceRank> ranks;
  std::vector<TraceLane> lanes;
  std::vector<TraceRecord> records;  ///< by `begin_ns`; what began together, the longest first
  std::string cut_off = {};          ///< why the run ended early: "interrupted"; empty: it did not
  bool operator==(const Timeline&) const = default;

  /// Adds the ranks of `other`, whose clock is moved by `clock`. Throws: ValueError for a rank that
  /// both hold.
  void merge(Timeline other, const ClockOffset& clock = {});
  /// Restores the order of `records`.
  void sort();
};

/// Throws: IoError; FormatError (place, given, expected; newer schemas are refused).
[[nodiscard]] Timeline read_timeline(const std::string& path);
/// Written to a temporary file beside `path`, then renamed. Throws: IoError.
void write_timeline(const Timeline& timeline, const std::string& path);
[[nodiscard]] std::string to_json(const Timeline& timeline);
/// `file` is the name for messages.
[[nodiscard]] Timeline timeline_from_json(const std::string& text, const std::string& file);

}  // namespace d5
