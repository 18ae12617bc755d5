// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace d5::chakra {

/// What d5 says of an operation beyond Chakra's schema, in attributes of its own.
struct OwnFields {
  std::optional<double> seconds, bytes;
  std::optional<std::string> kind, lane, algorithm;
  std::optional<std::int64_t> rank, width, priority, ranks;

  /// Calls `each(name, member)` for every field. `kind` comes first: an operation that has one was
  /// d5's own, and its `comm_type`, `comm_size` and `is_cpu_op` follow from it.
  template <class Fields, class Each>
  static void visit(Fields& fields, const Each& each) {
    each("d5_kind", fields.kind);
    each("d5_lane", fields.lane);
    each("d5_rank", fields.rank);
    each("d5_width", fields.width);
    each("d5_seconds", fields.seconds);
    each("d5_priority", fields.priority);
    each("d5_algorithm", fields.algorithm);
    each("d5_bytes", fields.bytes);
    each("d5_ranks", fields.ranks);
  }
};

/// Attributes that a node of d5's own operations has for other programs.
inline bool is_derived(std::string_view name) {
  return name == "is_cpu_op" || name == "comm_type" || name == "comm_size";
}

/// A time as Chakra's whole microseconds, and back. Up to `kMostMicros` both agree.
inline constexpr std::uint64_t kMostMicros = std::uint64_t{1} << 50;
inline double seconds_of_micros(std::uint64_t micros) { return static_cast<double>(micros) / 1e6; }

}  // namespace d5::chakra
