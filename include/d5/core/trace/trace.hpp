// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "d5/core/trace/timeline.hpp"

namespace d5 {

namespace detail {
struct PackedRecord;
}

struct TraceOptions {
  int rank = 0;
  /// Size of the ring buffer: older records are dropped and counted. The default takes about 30
  /// MiB. Texts are truncated to 200 bytes, and a record to 16 arguments.
  std::size_t most_records = std::size_t{1} << 18;
  /// Takes only records of this level; `Trace::on` is then false, so that code that would collect
  /// records for all levels does not. Empty: all levels.
  std::string only_level = {};
};

/// Records the activity of this process between `start` and `stop`.
///
///     Trace::start();
///     { const Span span("network", "inference"); run(); }
///     Trace::stop();
///     write_timeline(Trace::timeline(), "run.trace.json");
///
/// Thread safety: all functions. Recording costs one branch while no trace is on.
class Trace {
 public:
  /// Discards earlier records and starts recording. Throws: ValueError for a negative rank or room
  /// for no records.
  static void start(const TraceOptions& options = {});
  /// Stops recording. Records are kept for `timeline`.
  static void stop();
  /// Calls `listener` once, when the present trace stops, so that it can add final records. Never
  /// called if no trace is on, or if another trace starts first.
  static void at_stop(std::function<void()> listener);
  /// Whether records of every level are taken.
  [[nodiscard]] static bool on() {
    return taken_.load(std::memory_order_relaxed) == Taken::every_level;
  }
  /// Whether records of `level` are taken.
  [[nodiscard]] static bool takes(std::string_view level) {
    const Taken taken = taken_.load(std::memory_order_relaxed);
    if (taken == Taken::nothing) [[likely]]
      return false;
    return taken == Taken::every_level || is_only(level);
  }
  /// Nanoseconds on the monotonic clock, which all processes of a machine share.
  [[nodiscard]] static std::int64_t now_ns();

  /// The lane with this name, for sources other than threads, such as "cuda:0 stream 1".
  [[nodiscard]] static int lane(std::string_view name);
  /// The innermost span that is open on this thread; 0: none.
  [[nodiscard]] static std::uint64_t current();
  /// Adds a finished record, also of another thread, stream or rank. Adds `clock_offset_ns` to its
  /// times, to convert them from another clock. Returns the record's id, a new one if it had none.
  /// Returns 0 and does nothing while no trace takes its level.
  static std::uint64_t add(const TraceRecord& record, std::int64_t clock_offset_ns = 0);
  /// Records the value of a counter from now on.
  static void count(std::string_view level, std::string_view name, double value) {
    if (takes(level)) [[unlikely]]
      add_count(level, name, value);
  }

  /// All records since `start`, without open spans.
  [[nodiscard]] static Timeline timeline();

 private:
  static void add_count(std::string_view level, std::string_view name, double value);
  enum class Taken : std::uint8_t { nothing, one_level, every_level };
  static bool is_only(std::string_view level);
  static std::atomic<Taken> taken_;  // not inline: plug-ins would have one each
};

/// A span of this thread, from construction to destruction.
///
///     Span span("data", "read");
///     span.argument("samples", indices.size());
class Span {
 public:
  Span(std::string_view level, std::string_view name) {
    if (Trace::takes(level)) [[unlikely]]
      begin(level, name);
  }
  /// `name` is a function, called only while a trace is on: for names that are expensive to build.
  template <std::invocable Name>
  Span(std::string_view level, const Name& name) {
    if (Trace::takes(level)) [[unlikely]]
      begin(level, name());
  }
  ~Span() {
    if (record_) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// `value` is a number or a text.
  template <class Value>
  void argument(std::string_view name, const Value& value) {
    if (!record_) [[likely]]
      return;
    if constexpr (std::integral<Value>) {
      put(name, static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<Value>) {
      put(name, static_cast<double>(value));
    } else {
      put(name, std::string_view(value));
    }
  }
  /// Ends without a record, for a span whose end was missed.
  void discard();

 private:
  void begin(std::string_view level, std::string_view name);
  void end();
  void put(std::string_view name, std::int64_t value);
  void put(std::string_view name, double value);
  void put(std::string_view name, std::string_view value);

  detail::PackedRecord* record_ = nullptr;  // null unless a trace takes it
};

}  // namespace d5
