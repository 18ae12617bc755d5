// SPDX-License-Identifier: Apache-2.0
// Changes the rounding of its process, and ignores every signal that it can.
#include <cfenv>
#include <csignal>

#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_IGN);
  std::fesetround(FE_UPWARD);
  Product(call).compute();
  return D5_OK;
}
