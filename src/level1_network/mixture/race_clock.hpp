// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/core/clock.hpp"
#include "d5/core/waiting.hpp"

namespace d5 {

/// What a race reads, in seconds, and how it waits before another one's turn: threads that the one
/// before left spinning would otherwise be paid by the next.
struct RaceClock {
  std::function<double()> now = now_seconds;
  std::function<void()> outwait = outwait_spinning;
  double operator()() const { return now(); }
};

/// Shorter runs find what they need in caches and awake only after an untimed run of their own.
inline constexpr double kWarmsItselfSeconds = 0.01;

}  // namespace d5
