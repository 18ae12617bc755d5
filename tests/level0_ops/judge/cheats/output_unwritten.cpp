// SPDX-License-Identifier: Apache-2.0
// Returns at once.
#include "../matmul.hpp"

d5_status forward(const d5_call&) { return D5_OK; }
