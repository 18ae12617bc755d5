// SPDX-License-Identifier: Apache-2.0
// A plug-in of this version of d5, but built against other headers.
#include "d5/core/entries/interface.hpp"
#undef D5_INTERFACE
#define D5_INTERFACE "000000000000"
#include "d5/core/entries/plugin.hpp"

namespace {
void fill(d5::Framework&) {}
}  // namespace

D5_FRAMEWORK_PLUGIN("other_interface", "1", fill)
