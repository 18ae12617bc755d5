// SPDX-License-Identifier: Apache-2.0
// A plug-in as a user would write it: it adds one entry to a part that the test asks for.
#include "d5/core/entries/plugin.hpp"
#include "d5/core/entries/registry.hpp"

namespace {
void fill(d5::Framework& framework) { framework.part<d5::Registry<int>>().add("answer", 42); }
}  // namespace

D5_FRAMEWORK_PLUGIN("numbers", "1.2.3", fill)
