// SPDX-License-Identifier: Apache-2.0
// Stops its process in the middle of a call, as if it had returned.
#include <csignal>

#include "../matmul.hpp"

d5_status forward(const d5_call&) {
  raise(SIGSTOP);
  return D5_OK;
}
