// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/stack_switch.hpp"

extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** kept, const void* bottom,
                                                          std::size_t bytes);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* kept, const void** bottom,
                                                           std::size_t* bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* memory,
                                                         std::size_t bytes);
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_destroy_fiber(void* fiber);
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}

// The thread sanitizer records function entry and exit on the current stack, so a function that
// switches stacks must not be instrumented.
#define D5_CHANGES_STACK __attribute__((no_sanitize("thread")))

namespace d5::detail {

StackSwitch::StackSwitch(void* bottom, std::size_t bytes) : bottom_(bottom), bytes_(bytes) {
  if (__tsan_create_fiber) thread_fiber_ = __tsan_create_fiber(0);
}

StackSwitch::~StackSwitch() {
  if (__tsan_destroy_fiber) __tsan_destroy_fiber(thread_fiber_);
  // The last frames never return; clears their shadow memory for the next user.
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(bottom_, bytes_);
}

D5_CHANGES_STACK void StackSwitch::to_fiber() {
  if (__sanitizer_start_switch_fiber) {
    __sanitizer_start_switch_fiber(&kept_resumer_, bottom_, bytes_);
  }
  if (__tsan_switch_to_fiber) {
    thread_resumer_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(thread_fiber_, 0);
  }
}

void StackSwitch::in_fiber() {
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(kept_fiber_, &resumer_bottom_, &resumer_bytes_);
  }
}

D5_CHANGES_STACK void StackSwitch::to_resumer(Next fiber) {
  if (__sanitizer_start_switch_fiber) {
    __sanitizer_start_switch_fiber(fiber == Next::has_ended ? nullptr : &kept_fiber_,
                                   resumer_bottom_, resumer_bytes_);
  }
  if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(thread_resumer_, 0);
}

void StackSwitch::in_resumer() {
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(kept_resumer_, nullptr, nullptr);
  }
}

}  // namespace d5::detail
