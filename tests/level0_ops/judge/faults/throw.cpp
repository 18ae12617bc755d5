// SPDX-License-Identifier: Apache-2.0
// Throws.
#include <stdexcept>

#include "../matmul.hpp"

d5_status forward(const d5_call&) { throw std::runtime_error("no answer today"); }
