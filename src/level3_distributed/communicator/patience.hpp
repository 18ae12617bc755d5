// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace d5::detail {

/// Whether the ranks of this node are no more than its cores.
[[nodiscard]] bool ranks_have_cores();

/// What is done between two looks at something under way. At first nothing, where the ranks of this
/// node have a core each, for one that is given away while other work waits for it comes back after
/// milliseconds; then the core is given away; who waits for longer than exchanges of a step take
/// sleeps in between.
class Patience {
 public:
  /// Several times what a short message takes between cores that are awake.
  static constexpr std::chrono::nanoseconds kEager = std::chrono::microseconds(20);
  /// Of what stands still while nobody looks.
  static constexpr std::chrono::nanoseconds kOfWork = std::chrono::seconds(1);

  explicit Patience(std::chrono::nanoseconds awake = std::chrono::milliseconds(5))
      : awake_(awake) {}

  void pause() {
    using namespace std::chrono_literals;
    constexpr int kBetweenClocks = 64;
    if (eager_) {
      eager_ = std::chrono::steady_clock::now() - begin_ < kEager;
      if (eager_) return;
    }
    if (!sleeps_ && ++looks_ % kBetweenClocks == 0) {
      sleeps_ = std::chrono::steady_clock::now() - begin_ > awake_;
    }
    if (sleeps_) {
      std::this_thread::sleep_for(50us);
    } else {
      std::this_thread::yield();
    }
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds awake_;
  int looks_ = 0;
  bool eager_ = ranks_have_cores(), sleeps_ = false;
};

}  // namespace d5::detail
