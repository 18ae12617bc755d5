// SPDX-License-Identifier: Apache-2.0
#include "level2_training/losses/parts/fitted_target.hpp"

namespace d5::detail {

std::string fitted_target(Network& network, const LossEnds& ends) {
  const auto tensor = [&](const char* part) { return network.unused_name(ends.loss + "." + part); };
  const std::string cast = tensor("real"), shape = tensor("shape"), fitted = tensor("target");
  network.add_node("CastLike", {ends.target, ends.output}, {cast});
  network.add_node("Shape", {ends.output}, {shape});
  network.add_node("Reshape", {cast, shape}, {fitted});
  return fitted;
}

void end_in_mean(Network& network, const std::string& tensor, const std::string& loss) {
  network.add_node("ReduceMean", {tensor}, {loss}, {{"keepdims", std::int64_t{0}}}, loss);
}

}  // namespace d5::detail
