// SPDX-License-Identifier: Apache-2.0
#include "level1_network/network_file.hpp"

#include "d5/level1_network/network.hpp"
#include "d5/onnx/file.hpp"

namespace d5 {
namespace {

constexpr std::string_view kUpdate = "d5.update.";  // then the constant; the value names the output

}  // namespace

std::map<std::string, std::string> take_updates(onnx::Model& model) {
  std::map<std::string, std::string> updates;
  std::erase_if(model.metadata, [&](const auto& entry) {
    if (!entry.first.starts_with(kUpdate)) return false;
    updates[entry.first.substr(kUpdate.size())] = entry.second;
    return true;
  });
  return updates;
}

Network Network::load(const std::string& path) { return Network(onnx::load(path)); }

void Network::save(const std::string& path) const {
  onnx::Model saved = model();
  for (const auto& [constant, output] : updates()) {
    saved.metadata[std::string(kUpdate) + constant] = output;
  }
  for (auto& [name, value] : saved.graph.initializers) value = value.on_host();
  onnx::save(saved, path);
}

}  // namespace d5
