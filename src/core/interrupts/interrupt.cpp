// SPDX-License-Identifier: Apache-2.0
#include "d5/core/interrupts/interrupt.hpp"

#include <cmath>

#include "d5/core/clocks/clock.hpp"

namespace d5 {

bool Interrupt::possible() const {
  return token.stop_possible() || std::isfinite(deadline) || wished;
}

bool Interrupt::due() const {
  return token.stop_requested() || (std::isfinite(deadline) && now_seconds() >= deadline) ||
         (wished && wished());
}

std::string Interrupt::reason() const {
  const bool by_wish = token.stop_requested() || (wished && wished());
  return by_wish ? "interrupted" : "interrupted: the deadline passed";
}

void Interrupt::check(const std::string& who) const {
  if (due()) throw Interrupted(who + ": " + reason());
}

}  // namespace d5
