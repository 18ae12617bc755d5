// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace d5 {

/// Spans of time by thread and rank, written as Chrome's trace events (Perfetto reads them).
///
///     Trace::start();
///     { Span span("level1", "Conv conv1"); run(); }
///     Trace::write("run.trace.json");
///
/// Thread safety: all functions. A span while no trace is on costs one branch.
class Trace {
 public:
  static void start();
  static void stop();
  [[nodiscard]] static bool on();
  /// Nanoseconds on the monotonic clock.
  static void add_span(std::string_view category, std::string_view name, std::int64_t begin_ns,
                       std::int64_t end_ns);
  static void set_rank(int rank);
  /// Throws: IoError.
  static void write(const std::string& path);
};

/// A span from construction to destruction.
class Span {
 public:
  Span(std::string_view category, std::string_view name);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  std::string_view category_;
  std::string name_;
  std::int64_t begin_ns_ = -1;
};

}  // namespace d5
