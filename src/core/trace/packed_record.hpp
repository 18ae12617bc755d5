// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "d5/core/trace/timeline.hpp"

namespace d5::detail {

/// A packed trace record. Its texts and arguments are contiguous, so that reusing its memory needs
/// no allocation.
///
/// Texts are truncated to 200 bytes and arguments to 16, so that the number of records bounds the
/// memory, for names of any length.
struct PackedRecord {
  struct Head {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint64_t id = 0, parent = 0;
    int rank = TraceRecord::kMine, lane = TraceRecord::kMine;
    std::uint32_t body_bytes = 0;
    TraceRecord::Kind kind = TraceRecord::Kind::span;
    std::uint8_t arguments = 0;
  };

  /// Begins a new record.
  void begin(std::string_view level, std::string_view name);
  void pack(const TraceRecord& record);
  void argument(std::string_view name, std::int64_t value);
  void argument(std::string_view name, double value);
  void argument(std::string_view name, std::string_view value);
  [[nodiscard]] std::string_view level() const;

  Head head;
  std::string body = {};
  PackedRecord* next = nullptr;  ///< list of `SpareRecords`

 private:
  void put(std::string_view text);
  template <class Number>
  void put_number(char type, Number value);
  [[nodiscard]] bool put_argument_name(std::string_view name);
};

/// `body` belongs to a record with this head.
[[nodiscard]] TraceRecord unpacked(const PackedRecord::Head& head, const char* body);

}  // namespace d5::detail
