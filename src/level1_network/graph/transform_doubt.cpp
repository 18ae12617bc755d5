// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/transform_doubt.hpp"

#include <utility>

namespace d5 {
namespace {

constexpr const char* kDoubt = "d5.doubt";

}  // namespace

std::string doubt_of(const Network& network) {
  const auto& metadata = network.model().metadata;
  const auto place = metadata.find(kDoubt);
  return place == metadata.end() ? "" : place->second;
}

void add_doubt(Network& network, const std::string& doubt) {
  onnx::Model model = network.model();
  std::string& words = model.metadata[kDoubt];
  words += (words.empty() ? "" : "; ") + doubt;
  network.rewrite(std::move(model));
}

void forget_doubt(Network& network) {
  if (doubt_of(network).empty()) return;
  onnx::Model model = network.model();
  model.metadata.erase(kDoubt);
  network.rewrite(std::move(model));
}

}  // namespace d5
