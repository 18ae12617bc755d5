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
  /// The newest are kept, the older ones counted: about 30 MiB. Texts are cut after 200 bytes, and
  /// a record's arguments after 16.
  std::size_t most_records = std::size_t{1} << 18;
  /// Only records of this level are taken, and `Trace::on` says no, so that whoever looks for what
  /// to tell tells nothing. Empty: of every level.
  std::string only_level = {};
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

  /// The lane of a name: one for what is no thread, such as "cuda:0 stream 1".
  [[nodiscard]] static int lane(std::string_view name);
  /// The innermost span that is open on this thread; 0: none.
  [[nodiscard]] static std::uint64_t current();
  /// Adds what is over: of another thread, stream or rank too. The times are of another clock if
  /// `clock_offset_ns` is not 0; it is added to them. Returns the record's id, which is new if it
  /// had none; 0, and nothing is done, while no trace takes its level.
  static std::uint64_t add(const TraceRecord& record, std::int64_t clock_offset_ns = 0);
  /// The value of something from now on.
  static void count(std::string_view level, std::string_view name, double value) {
    if (takes(level)) [[unlikely]]
      add_count(level, name, value);
  }

  /// Everything recorded since `start`. Spans that are still open are not in it.
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
  /// `name` is a function, called only while a trace is on: for names that have to be made.
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
  /// Leaves no record: its end was missed.
  void discard();

 private:
  void begin(std::string_view level, std::string_view name);
  void end();
  void put(std::string_view name, std::int64_t value);
  void put(std::string_view name, double value);
  void put(std::string_view name, std::string_view value);

  detail::PackedRecord* record_ = nullptr;  // null while no trace takes it
};

}  // namespace d5
