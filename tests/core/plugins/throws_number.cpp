// SPDX-License-Identifier: Apache-2.0
// A plug-in that throws what is no std::exception while it registers.
#include "d5/core/entries/plugin.hpp"

namespace {
void fill(d5::Framework&) { throw 42; }
}  // namespace

D5_FRAMEWORK_PLUGIN("throws_number", "1", fill)
