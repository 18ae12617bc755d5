// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace d5::detail {

/// Notifies the address and thread sanitizers of stack switches. Otherwise the first would treat
/// frames left by an exception as live, and the second would see alternating fibers as one deep
/// call.
///
/// Their functions are weak symbols: without a sanitizer each call costs one branch.
/// Source: <sanitizer/common_interface_defs.h>, <sanitizer/tsan_interface.h>.
class StackSwitch {
 public:
  /// Describes a fiber with the stack [bottom, bottom + bytes).
  StackSwitch(void* bottom, std::size_t bytes);
  ~StackSwitch();
  StackSwitch(const StackSwitch&) = delete;
  StackSwitch& operator=(const StackSwitch&) = delete;

  enum class Next { comes_back, has_ended };
  // Each pair surrounds a switch: call the first before it and the second at its target.
  void to_fiber();
  void in_fiber();
  void to_resumer(Next fiber);
  void in_resumer();

 private:
  void* bottom_;
  std::size_t bytes_;
  const void* resumer_bottom_ = nullptr;
  std::size_t resumer_bytes_ = 0;
  // The address sanitizer's data of a suspended stack.
  void *kept_fiber_ = nullptr, *kept_resumer_ = nullptr;
  void *thread_fiber_ = nullptr, *thread_resumer_ = nullptr;  // the thread sanitizer's
};

}  // namespace d5::detail
