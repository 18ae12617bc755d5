// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/network_file.hpp"

#include <algorithm>

#include "d5/level1_network/graph/network.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/graph/network_state.hpp"
#include "level1_network/graph/parameter_roles.hpp"
#include "level1_network/nodes/output_types.hpp"

namespace d5 {
namespace {

// Prefixes of metadata keys; the name of an initializer follows.
constexpr std::string_view kUpdate = "d5.update.", kRole = "d5.role.";

std::map<std::string, std::string> take_entries(onnx::Model& model, std::string_view prefix) {
  std::map<std::string, std::string> taken;
  std::erase_if(model.metadata, [&](const auto& entry) {
    if (!entry.first.starts_with(prefix)) return false;
    taken[entry.first.substr(prefix.size())] = entry.second;
    return true;
  });
  return taken;
}

/// The network as a model for a file.
onnx::Model model_to_write(const Network& network) {
  onnx::Model model = network.model();
  for (const auto& [constant, output] : network.updates()) {
    model.metadata[std::string(kUpdate) + constant] = output;
  }
  const auto trainable = trainable_initializers(model.graph);
  for (auto& [name, value] : model.graph.initializers) {
    const bool parameter = network.is_parameter(name);
    const bool looks_like_one = std::ranges::find(trainable, name) != trainable.end();
    if (parameter != looks_like_one && !network.updates().contains(name)) {
      model.metadata[std::string(kRole) + name] = parameter ? "parameter" : "constant";
    }
    value = value.on_host();
  }
  for (const auto& node : model.graph.nodes) {
    model.opset_imports.try_emplace(node.domain, node.opset);
  }
  detail::declare_custom_outputs(model.graph);
  return model;
}

}  // namespace

NetworkNotes take_notes(onnx::Model& model) {
  return {.updates = take_entries(model, kUpdate), .roles = take_entries(model, kRole)};
}

Network Network::load(const std::string& path) { return load(path, {}); }
Network Network::load(const std::string& path, const onnx::LoadOptions& options) {
  return Network(onnx::load_file(path, options));
}
Network Network::parse(std::span<const std::byte> bytes, const std::string& file) {
  return Network(onnx::parse_file(bytes, file));
}
void Network::save(const std::string& path) const { save(path, {}); }
void Network::save(const std::string& path, const onnx::SaveOptions& options) const {
  onnx::save({model_to_write(*this), state_->remainder}, path, options);
}
std::string Network::serialize() const {
  return onnx::serialize({model_to_write(*this), state_->remainder});
}

}  // namespace d5
