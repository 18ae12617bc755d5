// SPDX-License-Identifier: Apache-2.0
#include "apps/served_process.hpp"

namespace d5::app {

void prepare_serving() {}

std::optional<int> run_served_process(int /*argc*/, char** /*argv*/) { return std::nullopt; }

}  // namespace d5::app
