// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "d5/core/timeline.hpp"
#include "d5/core/trace.hpp"

namespace d5::detail {

/// What an evaluation does itself, and nothing of what is below it: the trace level "model". While
/// it records, the process's own trace is off, and so frameworks pay nothing.
///
/// Thread safety: all of it.
class ModelTrace {
 public:
  static void start();
  /// Ends it. Spans that are open are not in it.
  [[nodiscard]] static Timeline stop();
  [[nodiscard]] static bool on() { return on_.load(std::memory_order_relaxed); }
  /// The record's id, which is new if it had none; 0 while none is on.
  static std::uint64_t add(TraceRecord record);

 private:
  static std::atomic<bool> on_;
};

/// A span of level "evaluation", in the process's trace or in this one, whichever is on.
class ModelSpan {
 public:
  explicit ModelSpan(const char* name) : span_("evaluation", name) {
    if (ModelTrace::on()) [[unlikely]]
      begin(name);
  }
  ~ModelSpan() {
    if (record_) [[unlikely]]
      end();
  }
  ModelSpan(const ModelSpan&) = delete;
  ModelSpan& operator=(const ModelSpan&) = delete;

  void argument(const char* name, std::int64_t value) {
    span_.argument(name, value);
    if (record_) [[unlikely]]
      record_->arguments.push_back({name, value});
  }
  /// The innermost that is open on this thread.
  [[nodiscard]] static std::uint64_t current();

 private:
  void begin(const char* name);
  void end();
  Span span_;
  std::unique_ptr<TraceRecord> record_;
};

}  // namespace d5::detail
