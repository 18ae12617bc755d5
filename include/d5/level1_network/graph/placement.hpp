// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5 {

namespace onnx {
struct Node;
}
class Network;

/// Which frameworks run some of a network's nodes, those in nested graphs too.
struct PlacementRule {
  /// Operators, "Conv", "com.example.Norm"; or nodes by their names, "node:fc1". A pattern stands
  /// for all that it matches: "Reduce*", "node:stage?.*" (glob(7)).
  std::string nodes;
  std::string frameworks;  ///< in order of preference, joined by +: "torch+reference"
};
/// Of several rules that match a node the first decides.
///
///     make_executor(network, {.frameworks = {"torch"}, .placement = {{"Softmax", "reference"}}});
using Placement = std::vector<PlacementRule>;

/// "Conv=torch", "node:fc*=torch+reference". Throws: ValueError for a word of another form.
[[nodiscard]] PlacementRule placement_rule(std::string_view word);
[[nodiscard]] std::string to_string(const PlacementRule& rule);
/// "Conv=torch,node:fc*=reference": the condition "placement" of a record.
[[nodiscard]] std::string to_words(const Placement& placement);
/// " --place Conv=torch,node:fc*=reference", or nothing
[[nodiscard]] std::string to_line(const Placement& placement);

/// In order of preference. Throws: ValueError for an executor of whole networks, "torch:torch".
[[nodiscard]] std::vector<std::string> frameworks_of(const PlacementRule& rule);
[[nodiscard]] bool applies(const PlacementRule& rule, const onnx::Node& node);
/// Throws: NotFound for a rule that no node of the network matches, with the nearest.
void expect_matches(const Placement& placement, const Network& network);

}  // namespace d5
