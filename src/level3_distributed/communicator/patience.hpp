// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace d5::detail {

/// What is done between two looks at something under way: at first the core is given away at once,
/// as libraries of MPI do; who waits for longer than exchanges of a step take sleeps in between.
class Patience {
 public:
  /// Of what stands still while nobody looks.
  static constexpr std::chrono::nanoseconds kOfWork = std::chrono::seconds(1);

  explicit Patience(std::chrono::nanoseconds awake = std::chrono::milliseconds(5))
      : awake_(awake) {}

  void pause() {
    using namespace std::chrono_literals;
    constexpr int kBetweenClocks = 64;
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
  bool sleeps_ = false;
};

}  // namespace d5::detail
