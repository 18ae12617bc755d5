// SPDX-License-Identifier: Apache-2.0
// A plug-in whose stamp says that it was built for another d5.
#include "d5/version.hpp"
#undef D5_VERSION
#define D5_VERSION "0.0.0"
#include "d5/core/entries/plugin.hpp"

namespace {
void fill(d5::Framework&) {}
}  // namespace

D5_FRAMEWORK_PLUGIN("other_version", "1", fill)
