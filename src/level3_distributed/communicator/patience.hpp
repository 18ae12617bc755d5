// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "d5/level3_distributed/communicator/communication_resources.hpp"

namespace d5::detail {

/// Called in place of every pause on this thread, unless null. If ranks are strands of one thread,
/// a wait must switch to another strand.
using PauseInstead = void (*)();
[[nodiscard]] PauseInstead& pause_instead_of_thread();

/// Whether this node has at least one core per rank.
[[nodiscard]] bool ranks_have_cores();

/// The pause between two polls. At first it spins, if each rank of this node has a core, because a
/// core yielded to other work comes back only after milliseconds. Then it yields. After a wait
/// longer than the exchanges of a step it sleeps.
class Patience {
 public:
  /// Several times the time of a short message between spinning cores.
  static constexpr std::chrono::nanoseconds kEager = std::chrono::microseconds(20);
  /// Time awake for work that makes progress only by polling.
  static constexpr std::chrono::nanoseconds kOfWork = std::chrono::seconds(1);

  explicit Patience(std::chrono::nanoseconds awake = std::chrono::milliseconds(5))
      : awake_(awake) {}

  void pause() {
    using namespace std::chrono_literals;
    if (const PauseInstead instead = pause_instead_of_thread()) return instead();
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

/// The pause that a call's resources ask for.
class PollPause {
 public:
  explicit PollPause(const CommunicationResources& resources)
      : waiting_(resources.waiting),
        interval_(resources.poll_interval),
        patience_(Patience::kOfWork) {}

  void pause() {
    using Clock = std::chrono::steady_clock;
    if (const PauseInstead instead = pause_instead_of_thread()) return instead();
    const auto until = interval_.count() > 0 ? Clock::now() + interval_ : Clock::time_point{};
    do {
      once();
    } while (interval_.count() > 0 && Clock::now() < until);
  }

 private:
  void once() {
    using namespace std::chrono_literals;
    switch (waiting_) {
      case Waiting::usual:
        return patience_.pause();
      case Waiting::spin:
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        return;
      case Waiting::yield:
        return std::this_thread::yield();
      case Waiting::sleep:
        return std::this_thread::sleep_for(std::max<std::chrono::nanoseconds>(interval_, 50us));
    }
  }

  Waiting waiting_;
  std::chrono::nanoseconds interval_;
  Patience patience_;
};

}  // namespace d5::detail
