// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/trace/thread_trace.hpp"
#include "prediction/simulation/stack_switch.hpp"

namespace d5::detail {

/// A function with its own stack that can suspend and resume.
///
/// Thread-local state is switched with the fiber: exceptions in flight (a fiber may wait during
/// unwinding or handling), open spans and the lane of the trace, and the training step.
///
/// Uses ucontext, which needs no library; its system calls are a small part of the microsecond that
/// a simulated message costs.
/// Thread safety: none; one thread makes and resumes all.
class Fiber {
 public:
  /// `body` begins with the first `resume` and must not throw. Throws: MemoryError.
  Fiber(std::function<void()> body, std::size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the fiber until it suspends itself or ends.
  void resume();
  /// Called by the running fiber: returns to the caller of `resume`.
  void suspend();
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  struct ThreadState {
    std::array<std::byte, 16> exceptions{};  // the two members of __cxa_eh_globals
    ThreadTrace trace;
    std::int64_t step = 0;
  };
  void exchange_thread_state();
  static void enter(unsigned high, unsigned low);

  std::function<void()> body_;
  void* memory_;  // a page that faults, then the stack
  std::size_t memory_bytes_;
  ucontext_t own_{}, resumer_{};
  std::optional<StackSwitch> stack_switch_;  // set once there is a stack
  ThreadState state_;  // the fiber's while it is suspended, the resumer's while it runs
  bool ended_ = false;
};

}  // namespace d5::detail
