// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/thread_pool/waiting.hpp"

namespace d5 {

/// Of those that are measured in turn: what is read, in seconds, and how the next one is made
/// ready.
struct TurnClock {
  std::function<double()> now = now_seconds;
  std::function<void()> outwait = outwait_spinning;
  double operator()() const { return now(); }

  /// Before one's turn, behind another one's. Outwaits the threads that the other left spinning,
  /// which would take the cores; then calls `run`, which gives its seconds, until that takes at
  /// most a tenth more than `shortest`, its shortest so far (infinity: unknown), or for 40 ms:
  /// threads that wake may share a core for so long, until the system moves one. What runs for two
  /// seconds is not called.
  void settle(double shortest, const std::function<double()>& run) const;
};

/// Rounds in which each takes one turn, of so many samples.
struct Turns {
  int rounds, samples;
};

/// For at least `samples` of each, where one takes so many seconds. Making ready takes far longer
/// than short ones, so that several of them are worth a turn.
[[nodiscard]] Turns turns_for(int samples, double seconds);

}  // namespace d5
