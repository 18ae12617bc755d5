// SPDX-License-Identifier: Apache-2.0
// Judges executors on random inputs.
#include "d5/level1_network/source/network_inputs.hpp"
#include "level1_network/auto/auto_executor.hpp"

namespace d5 {

NetworkInputs network_inputs(const std::string& model, GraphExecutor& executor,
                             const OpenSizes& sizes, const GivenInputs& given, std::uint64_t seed) {
  const Network network = executor.network();
  NetworkInputs inputs = network_inputs(model, network, sizes, given, seed);
  auto* chooses = dynamic_cast<AutoExecutor*>(&executor);
  if (chooses && !inputs.made.empty()) {
    chooses->judge_also_on(
        [network, inputs](std::uint64_t other, std::size_t drawing) {
          return drawn_again(network, inputs, other, drawing);
        },
        seed);
  }
  return inputs;
}

}  // namespace d5
