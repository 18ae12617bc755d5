// SPDX-License-Identifier: Apache-2.0
// A plug-in whose library is not on this machine.
#include "d5/core/entries/plugin.hpp"

extern "C" void nowhere();

namespace {
void fill(d5::Framework&) { nowhere(); }
}  // namespace

D5_FRAMEWORK_PLUGIN("missing_library", "1", fill)
