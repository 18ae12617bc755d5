// SPDX-License-Identifier: Apache-2.0
// A plug-in that fails while it registers.
#include <stdexcept>

#include "d5/core/entries/plugin.hpp"

namespace {
void fill(d5::Framework&) { throw std::runtime_error("no such accelerator"); }
}  // namespace

D5_FRAMEWORK_PLUGIN("throws", "1", fill)
