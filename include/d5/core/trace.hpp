// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
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
  /// Forgets what was collected, and collects.
  static void start();
  /// Collects no more; what was collected stays for `write`.
  static void stop();
  [[nodiscard]] static bool on() { return on_.load(std::memory_order_relaxed); }
  /// Nanoseconds on the monotonic clock, which all processes of a machine share.
  [[nodiscard]] static std::int64_t now_ns();
  /// Ignored while no trace is on.
  static void add_span(std::string_view category, std::string_view name, std::int64_t begin_ns,
                       std::int64_t end_ns);
  /// The rank becomes the process of the trace, so that files of several ranks can be put together.
  static void set_rank(int rank);
  /// Throws: IoError.
  static void write(const std::string& path);

 private:
  static inline std::atomic<bool> on_ = false;
};

/// A span from construction to destruction. `category` outlives it: a literal.
class Span {
 public:
  Span(std::string_view category, std::string_view name) {
    if (Trace::on()) [[unlikely]]
      begin(category, name);
  }
  ~Span() {
    if (begin_ns_ >= 0) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void begin(std::string_view category, std::string_view name);
  void end();

  std::string_view category_;
  std::string name_;
  std::int64_t begin_ns_ = -1;
};

}  // namespace d5
