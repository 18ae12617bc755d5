// SPDX-License-Identifier: Apache-2.0
// Removes nodes and values that no output of the network depends on.
#include <fmt/format.h>

#include <ranges>

#include "d5/level1_network/graph/transform.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5::transform {
namespace {

/// Parameters without a reader are removed too: their gradient was zero.
class DeadCode final : public Transform {
 public:
  bool enters_graphs() const override { return true; }
  TransformReport apply(Network& network) const override {
    const std::vector<std::string> dead = unneeded(network);
    network.splice({.remove = dead});
    std::set<std::string> values;
    for (const auto& [name, value] : network.graph().initializers) values.insert(name);
    const std::size_t unread = remove_unread_values(network, values);
    if (dead.empty() && unread == 0) return {};
    return {fmt::format("removed {} nodes, {} parameters and constants", dead.size(), unread)};
  }

 private:
  /// A tensor of each node.
  static std::vector<std::string> unneeded(const Network& network) {
    const GraphLinks links(network);
    std::set<std::string> needed;
    std::vector<std::string> result;
    for (const auto& node : std::views::reverse(network.graph().nodes)) {
      const bool live = std::ranges::any_of(node.outputs, [&](const auto& output) {
        return links.leaves(output) || needed.contains(output);
      });
      if (live) {
        for (auto& name : read_names(node)) needed.insert(std::move(name));
      } else if (std::string output = first_output(node); !output.empty()) {
        result.push_back(std::move(output));
      }
    }
    return result;
  }
};

}  // namespace

void register_dead_code(Registry<TransformEntry>& registry) {
  registry.add("dead-code", TransformEntry::of<DeadCode>(
                                "dead code elimination: removes nodes that no output depends on"));
}

}  // namespace d5::transform
