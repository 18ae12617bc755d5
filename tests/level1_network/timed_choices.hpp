// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/level1_network/mixture/framework_selection.hpp"
#include "level1_network/execution/plan_executor.hpp"
#include "tests/level1_network/timed_frameworks.hpp"

/// Frameworks with fixed times, for the choices of "auto".
namespace timed {

inline d5::PlanExecutor executor_of(const d5::Network& network,
                                    d5::ExecutorOptions options = {.frameworks = {"auto"}}) {
  use_frameworks();
  for (const char* op : {"Up", "Over", "On"}) world.costs["slow"][op] = 100;
  return d5::PlanExecutor(network, std::move(options),
                          {.clock = clock, .most_seconds = 1e9, .watch_others = watch_others});
}

inline d5::ValueMap fed(std::int64_t size = 4) {
  d5::Tensor x = d5::Tensor::zeros(d5::DType::float32, {size});
  for (std::int64_t i = 0; i < size; ++i) x.data<float>()[i] = float(i);
  return {{"x", x}};
}

inline std::vector<std::string> frameworks_of(const d5::FrameworkSelection& selection) {
  std::vector<std::string> result;
  for (const auto& node : selection.nodes) result.push_back(node.framework);
  return result;
}

/// Up is alpha's, Over beta's.
inline void take_turns() {
  world.costs["alpha"] = {{"Up", 2}, {"Over", 3}};
  world.costs["beta"] = {{"Up", 3}, {"Over", 2}};
}

inline d5::FrameworkSelection chosen_for(d5::PlanExecutor& executor) {
  const d5::ValueMap inputs = fed();
  const auto y = executor.inference(inputs).at("y").tensor().span<float>();
  CHECK(std::vector<float>(y.begin(), y.end()) == std::vector<float>{3, 4, 5, 6});
  return d5::framework_selection(executor);
}

}  // namespace timed
