// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/trace/trace.hpp"

namespace d5::torch {

/// Traces torch's calls, forward and in autograd, on any thread, while a trace is on, through the
/// callbacks of torch's own profiler. Without a trace no callbacks are installed.
class CallSpans {
 public:
  /// Call it before calling torch: detects whether a trace began or ended.
  static void follow_trace() {
    if (Trace::on() != are_on_.load(std::memory_order_relaxed)) [[unlikely]]
      turn();
  }

 private:
  static void turn();
  static std::atomic<bool> are_on_;
};

}  // namespace d5::torch
