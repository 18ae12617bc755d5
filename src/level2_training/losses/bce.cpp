// SPDX-License-Identifier: Apache-2.0
#include "level2_training/losses/parts/fitted_target.hpp"

namespace d5 {
namespace {

/// mean over all elements of -t log σ(x) - (1 - t) log(1 - σ(x)), where log σ(x) = -softplus(-x)
/// and log(1 - σ(x)) = -softplus(x): no logarithm of a rounded probability. Its slope is σ(x) - t
/// everywhere, at 0 too.
void append_bce(Network& network, const LossEnds& ends) {
  const std::string target = detail::fitted_target(network, ends);
  const auto node = [&](const char* part, const char* op, std::vector<std::string> inputs) {
    const std::string output = network.unused_name(ends.loss + "." + part);
    network.add_node(op, std::move(inputs), {output});
    return output;
  };
  const std::string negative = node("negative", "Neg", {ends.output});
  const std::string of_one = node("of_one", "Softplus", {negative});
  const std::string of_zero = node("of_zero", "Softplus", {ends.output});
  // t a + (1 - t) b, with each product exact for a target of 0 or 1
  const std::string ones = node("ones_part", "Mul", {target, of_one});
  const std::string rest = node("rest", "Mul", {target, of_zero});
  const std::string zeros = node("zeros_part", "Sub", {of_zero, rest});
  detail::end_in_mean(network, node("element", "Add", {ones, zeros}), ends.loss);
}

}  // namespace

namespace loss {

void register_bce(Registry<LossEntry>& registry) {
  registry.add("bce",
               LossEntry("binary cross-entropy of logits (scores before a sigmoid)", append_bce));
}

}  // namespace loss
}  // namespace d5
