// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/turn_clock.hpp"

#include <algorithm>
#include <cmath>

namespace d5 {

void TurnClock::settle(double shortest, const std::function<double()>& run) const {
  constexpr double kMost = 0.04, kNear = 1.1, kLong = 2;
  outwait();
  const double enough = std::isfinite(shortest) ? kNear * shortest : 0;
  if (enough > kLong) return;
  const double begin = now();
  while (run() > enough && now() - begin < kMost) continue;
}

Turns turns_for(int samples, double seconds) {
  constexpr double kTurn = 0.01, kMost = 5;
  const int a_turn = int(std::clamp(kTurn / seconds, 1.0, kMost));
  return {(samples + a_turn - 1) / a_turn, a_turn};
}

}  // namespace d5
