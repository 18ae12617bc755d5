// SPDX-License-Identifier: Apache-2.0
// Ends its process.
#include <cstdlib>

#include "../matmul.hpp"

d5_status forward(const d5_call&) { std::exit(0); }
