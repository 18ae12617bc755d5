// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/measuring/measure.hpp"

namespace d5::testing {

/// Computes for so long.
inline void wait(double seconds) {
  const double end = now_seconds() + seconds;
  while (now_seconds() < end) continue;
}

inline Subject subject(std::string name, std::function<void()> run) {
  return {.record = {.subject = std::move(name)}, .run = std::move(run)};
}

}  // namespace d5::testing
