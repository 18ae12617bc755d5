// SPDX-License-Identifier: Apache-2.0
#include "level2_training/losses/parts/fitted_target.hpp"

namespace d5 {
namespace {

/// mean over all elements of (prediction - target)^2
void append_mse(Network& network, const LossEnds& ends) {
  const std::string target = detail::fitted_target(network, ends);
  const std::string error = network.unused_name(ends.loss + ".error");
  network.add_node("Sub", {ends.output, target}, {error});
  const std::string square = network.unused_name(ends.loss + ".square");
  network.add_node("Mul", {error, error}, {square});
  detail::end_in_mean(network, square, ends.loss);
}

}  // namespace

namespace loss {

void register_mse(Registry<LossEntry>& registry) {
  registry.add("mse", LossEntry("mean squared error", append_mse));
}

}  // namespace loss
}  // namespace d5
