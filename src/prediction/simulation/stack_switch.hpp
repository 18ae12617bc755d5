// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace d5::detail {

/// Tells the address and the thread sanitizer which stack a thread runs on. The first would take
/// frames that an exception left for live ones, the second what fibers do in turn for one deep
/// call.
///
/// Their functions are weak: where a process has no sanitizer, each call is a branch.
/// Source: <sanitizer/common_interface_defs.h>, <sanitizer/tsan_interface.h>.
class StackSwitch {
 public:
  /// Of a fiber whose stack is [bottom, bottom + bytes).
  StackSwitch(void* bottom, std::size_t bytes);
  ~StackSwitch();
  StackSwitch(const StackSwitch&) = delete;
  StackSwitch& operator=(const StackSwitch&) = delete;

  enum class Next { comes_back, has_ended };
  // Each pair stands around a switch: the first before it, the second where it arrives.
  void to_fiber();
  void in_fiber();
  void to_resumer(Next fiber);
  void in_resumer();

 private:
  void* bottom_;
  std::size_t bytes_;
  const void* resumer_bottom_ = nullptr;
  std::size_t resumer_bytes_ = 0;
  // What the address sanitizer keeps of a stack that waits.
  void *kept_fiber_ = nullptr, *kept_resumer_ = nullptr;
  void *thread_fiber_ = nullptr, *thread_resumer_ = nullptr;  // the thread sanitizer's
};

}  // namespace d5::detail
