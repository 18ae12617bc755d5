// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// A line of a file, and how a complaint about it begins.
struct TraceLine {
  const std::string& file;
  std::int64_t number = 0;  ///< from 1
  std::string_view text = {};

  /// Throws FormatError: "trace.csv:3:15: " and the words. `place`: byte in the line, from 0.
  [[noreturn]] void fail(std::size_t place, const std::string& words) const;
};

/// What a line says of a request.
struct TraceEntry {
  double seconds = 0;          ///< time of arrival, from any moment
  std::string_view time = {};  ///< the time as the line has it, valid as long as the line
  std::size_t place = 0;       ///< byte of the line at which the time begins
  std::int64_t prompt_tokens = 0, answer_tokens = 0;
  std::vector<std::uint64_t> blocks = {};  ///< ids
  std::string_view session = {};           ///< its conversation's id, as `time`; empty: none
};

/// Reads one format of recordings, line by line.
class TraceFormat {
 public:
  virtual ~TraceFormat() = default;
  /// As `RequestTrace::format`.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns false for a header. Throws: FormatError.
  virtual bool read(const TraceLine& line, TraceEntry& entry) = 0;
};

/// The format that a file's first line has, which its `read` is given first. `block`: tokens of a
/// block.
[[nodiscard]] std::unique_ptr<TraceFormat> trace_format(const TraceLine& first, std::int64_t block);

}  // namespace d5::detail
