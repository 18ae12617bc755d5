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

/// A function with a stack of its own, that stops in its midst and goes on later.
///
/// What belongs to a thread and would be mixed up between fibers that share one goes with the
/// fiber: exceptions in flight (a fiber may wait while one unwinds, or is handled), open spans
/// and the lane of the trace, the step of training.
///
/// ucontext: it needs no library, and of the microsecond that a message costs here its system calls
/// are a small part.
/// Thread safety: none; one thread makes and resumes all.
class Fiber {
 public:
  /// Begins with the first `resume`. `body` lets no exception out. Throws: MemoryError.
  Fiber(std::function<void()> body, std::size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Until it suspends itself, or ends.
  void resume();
  /// Of the fiber that runs: back to who resumed it.
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
  std::optional<StackSwitch> stack_switch_;  // once there is a stack
  ThreadState state_;  // of the fiber while it is suspended, of who resumed it while it runs
  bool ended_ = false;
};

}  // namespace d5::detail
