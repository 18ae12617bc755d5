// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "d5/core/timeline.hpp"

namespace d5 {

struct TraceOptions {
  int rank = 0;
  /// The newest are kept, the older ones counted: about 100 MiB. Texts are cut after 200 bytes, and
  /// a record's arguments after 16.
  std::size_t most_records = std::size_t{1} << 18;
};

/// Records what this process does, while somebody asks for it.
///
///     Trace::start();
///     { const Span span("network", "inference"); run(); }
///     Trace::stop();
///     write_timeline(Trace::timeline(), "run.trace.json");
///
/// Thread safety: all functions. What records costs one branch while no trace is on.
class Trace {
 public:
  /// Forgets what was recorded, and records. Throws: ValueError for a rank below 0, no records.
  static void start(const TraceOptions& options = {});
  /// Records no more; what was recorded stays for `timeline`.
  static void stop();
  /// Calls `listener` once, when the present trace stops: for what is known only then, and still
  /// added. Never where no trace is on, or another one starts before.
  static void at_stop(std::function<void()> listener);
  [[nodiscard]] static bool on() { return on_.load(std::memory_order_relaxed); }
  /// Nanoseconds on the monotonic clock, which all processes of a machine share.
  [[nodiscard]] static std::int64_t now_ns();

  /// The lane of a name: one for what is no thread, such as "cuda:0 stream 1".
  [[nodiscard]] static int lane(std::string_view name);
  /// The innermost span that is open on this thread; 0: none.
  [[nodiscard]] static std::uint64_t current();
  /// Adds what is over: of another thread, stream or rank too. The times are of another clock if
  /// `clock_offset_ns` is not 0; it is added to them. Returns the record's id, which is new if it
  /// had none; 0, and nothing is done, while no trace is on.
  static std::uint64_t add(TraceRecord record, std::int64_t clock_offset_ns = 0);
  /// The value of something from now on.
  static void count(std::string_view level, std::string_view name, double value) {
    if (on()) [[unlikely]]
      add_count(level, name, value);
  }

  /// Everything recorded since `start`. Spans that are still open are not in it.
  [[nodiscard]] static Timeline timeline();

 private:
  static void add_count(std::string_view level, std::string_view name, double value);
  static std::atomic<bool> on_;  // not inline: plug-ins would have one each
};

/// A span of this thread, from construction to destruction.
///
///     Span span("data", "read");
///     span.argument("samples", indices.size());
class Span {
 public:
  Span(std::string_view level, std::string_view name) {
    if (Trace::on()) [[unlikely]]
      begin(level, name);
  }
  /// `name` is a function, called only while a trace is on: for names that have to be made.
  template <std::invocable Name>
  Span(std::string_view level, const Name& name) {
    if (Trace::on()) [[unlikely]]
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
      record_->arguments.push_back({std::string(name), static_cast<std::int64_t>(value)});
    } else if constexpr (std::floating_point<Value>) {
      record_->arguments.push_back({std::string(name), static_cast<double>(value)});
    } else {
      record_->arguments.push_back({std::string(name), std::string(value)});
    }
  }
  /// Leaves no record: its end was missed.
  void discard();

 private:
  void begin(std::string_view level, std::string_view name);
  void end();

  std::unique_ptr<TraceRecord> record_;  // null while no trace is on
};

}  // namespace d5
