// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace d5 {

/// A named value of a trace record: {"bytes", 4096}.
struct TraceArgument {
  std::string name = {};
  std::variant<std::int64_t, double, std::string> value;
  bool operator==(const TraceArgument&) const = default;
};

/// A traced span or counter.
struct TraceRecord {
  enum class Kind : std::uint8_t {
    span,         ///< activity of a lane; a lane's spans nest
    overlapping,  ///< a span that may overlap any other, such as a pending request
    counter,      ///< the arguments' values at time `begin_ns`
  };
  /// Value of `rank` and `lane` in `Trace::add`: this rank, this thread.
  static constexpr int kMine = -1;

  Kind kind = Kind::span;
  int rank = kMine;
  int lane = kMine;          ///< number of the lane within its rank
  std::uint64_t id = 0;      ///< unique within its rank, from 1; a counter has none
  std::uint64_t parent = 0;  ///< enclosing span, of the same rank; 0: none
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string level = {};  ///< "operator", "network", "training", "data", "communication"
  std::string name = {};
  std::vector<TraceArgument> arguments = {};  ///< names other than "id" and "parent"
  bool operator==(const TraceRecord&) const = default;
};

/// A row of spans: a thread, or a device's stream.
struct TraceLane {
  int rank = 0;
  int number = 0;  ///< unique within its rank
  std::string name = {};
  bool operator==(const TraceLane&) const = default;
};

/// Offset that converts times of one clock to another.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t uncertainty_ns = 0;  ///< bound of the offset's error; 0: the same clock
  double drift = 0;                 ///< growth of the offset per nanosecond after `since_ns`
  std::int64_t since_ns = 0;        ///< on the clock that is converted
  /// A converted time.
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
  std::uint64_t dropped = 0;  ///< number of older records that were dropped for lack of room
  ClockOffset clock = {};     ///< offset that was applied to its times
  bool operator==(const TraceRank&) const = default;
};

/// Records of one or several ranks, on one clock. File format: docs/reference/file_formats.md,
/// "Trace".
///
///     Timeline all = read_timeline("rank0.json");
///     all.merge(read_timeline("rank1.json"), {.offset_ns = -1500});
///     write_timeline(all, "all.json");  // ui.perfetto.dev opens it
struct Timeline {
  static constexpr int kSchema = 1;
  std::vector<TraceRank> ranks;
  std::vector<TraceLane> lanes;
  std::vector<TraceRecord> records;  ///< sorted by `begin_ns`, then longest first
  std::string cut_off = {};          ///< reason for an early end: "interrupted"; empty: none
  bool operator==(const Timeline&) const = default;

  /// Adds the ranks of `other`, with times converted by `clock`. Throws: ValueError for a rank that
  /// both contain.
  void merge(Timeline other, const ClockOffset& clock = {});
  /// Restores the order of `records`.
  void sort();
};

/// Reads a timeline. Throws: IoError; FormatError (position, found, expected; newer schemas are
/// refused).
[[nodiscard]] Timeline read_timeline(const std::string& path);
/// Writes a timeline atomically (`write_file`). Throws: IoError.
void write_timeline(const Timeline& timeline, const std::string& path);
[[nodiscard]] std::string to_json(const Timeline& timeline);
/// `file` is the name in error messages.
[[nodiscard]] Timeline timeline_from_json(const std::string& text, const std::string& file);

}  // namespace d5
