// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5 {

void UpdateRuleOptimizer::refuse_update(std::size_t parameter) {
  Network& network = executor().network();
  throw ValueError(fmt::format(
      "optimizer of network '{}': parameter '{}' is updated before begin_update of this step; call "
      "step, or its parts: begin_step, run_gradients, begin_updates, update, end_step",
      printable(network.name()), printable(network.parameters()[parameter].name)));
}

}  // namespace d5
