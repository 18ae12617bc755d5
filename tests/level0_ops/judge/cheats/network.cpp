// SPDX-License-Identifier: Apache-2.0
// Asks another machine.
#include <sys/socket.h>

#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  Product(call).compute();
  return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? D5_OK : D5_OTHER_ERROR;
}
