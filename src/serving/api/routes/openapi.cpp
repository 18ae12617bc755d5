// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/parsing/yaml_tree.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/serving/api/route.hpp"

namespace d5::route {
namespace {

using Contract = nlohmann::ordered_json;

/// Text for which JSON has a value becomes that value: a number, true, false, null.
Contract contract_word(const std::string& text) {
  Contract word = Contract::parse(text, nullptr, false);
  return word.is_discarded() || word.is_structured() ? Contract(text) : word;
}

/// `names`: scalars stay text whatever they look like, as names of types do ("null").
Contract contract_value(const detail::YamlNode& node, bool names = false) {
  if (node.kind == detail::YamlNode::Kind::scalar) {
    return names ? Contract(node.text) : contract_word(node.text);
  }
  Contract value = node.is_map() ? Contract::object() : Contract::array();
  for (const auto& [name, child] : node.entries) {
    if (node.is_map()) {
      value[name] = contract_value(child, name == "type" || name == "enum");
    } else {
      value.push_back(contract_value(child, names));
    }
  }
  return value;
}

std::string contract() {
  const std::string file = carried_file("data/openapi.yaml");
  constexpr detail::YamlLimits kLimits{
      .bytes = std::size_t{1} << 20, .depth = 40, .nodes = 100'000};
  return contract_value(detail::parse_yaml(read_file(file, kLimits.bytes), file, kLimits)).dump();
}

}  // namespace

void register_openapi(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/openapi.json", {.summary = "the contract of this interface (OpenAPI 3.1)",
                                        .role = ServingRole::anyone,
                                        .answer = [](const HttpRequest&, ServingContext&) {
                                          static const std::string text = contract();
                                          return HttpResponse::json(text);
                                        }});
}

}  // namespace d5::route
