// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::testing {

/// Does `work(interrupt)` again and again: interrupted where it asks for the first time, for the
/// second, and so on, until it comes to its end. Returns how often it asked then.
template <class F>
int interrupted_everywhere(const F& work) {
  for (int place = 0;; ++place) {
    int asked = 0;
    const Interrupt interrupt{.wished = [&] { return asked++ >= place; }};
    try {
      work(interrupt);
      REQUIRE(asked <= place);
      return asked;
    } catch (const Interrupted&) {
      REQUIRE(asked > place);
    }
  }
}

}  // namespace d5::testing
