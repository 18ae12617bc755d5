// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/thread_pool/waiting.hpp"

namespace d5 {

/// Clock for subjects that are measured in turn, in seconds; also prepares the next subject.
struct TurnClock {
  std::function<double()> now = now_seconds;
  std::function<void()> outwait = outwait_spinning;
  double operator()() const { return now(); }

  /// Called before a subject's turn, after another one's. Waits until the other's threads stop
  /// spinning on the cores. Then calls `run`, which returns its seconds, until it takes at most 10%
  /// more than `shortest`, its shortest time so far (infinity: unknown), or for 40 ms: woken
  /// threads may share a core for so long, until the system moves one. A subject that runs for two
  /// seconds is not called.
  void settle(double shortest, const std::function<double()>& run) const;
};

/// Number of rounds, and of samples per subject in a round.
struct Turns {
  int rounds, samples;
};

/// The turns for at least `samples` of each subject, if a sample takes this many seconds. A turn
/// has several short samples, because preparing it takes far longer than one.
[[nodiscard]] Turns turns_for(int samples, double seconds);

}  // namespace d5
