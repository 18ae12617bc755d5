// SPDX-License-Identifier: Apache-2.0
// Does not return.
#include "../matmul.hpp"

d5_status forward(const d5_call&) {
  for (volatile bool endless = true; endless;) {
  }
  return D5_OK;
}
