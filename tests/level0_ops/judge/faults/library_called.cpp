// SPDX-License-Identifier: Apache-2.0
// Loads another library, which could compute the answer.
#include <dlfcn.h>

#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  static void* library = dlopen("libresolv.so.2", RTLD_NOW);
  Product(call).compute();
  return library ? D5_OK : D5_OTHER_ERROR;
}
