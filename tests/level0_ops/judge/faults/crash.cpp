// SPDX-License-Identifier: Apache-2.0
// Dies of a signal.
#include <csignal>

#include "../matmul.hpp"

d5_status forward(const d5_call&) {
  std::raise(SIGABRT);
  return D5_OK;
}
