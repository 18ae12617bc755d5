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

/// Assignment of some of a network's nodes, nested graphs included, to frameworks.
struct PlacementRule {
  /// Operators ("Conv", "com.example.Norm"), or nodes by name ("node:fc1"). Patterns as in glob(7)
  /// are allowed: "Reduce*", "node:stage?.*".
  std::string nodes;
  std::string frameworks;  ///< in order of preference, joined by +: "torch+reference"
};
/// Rules in order; the first that matches a node decides.
///
///     make_executor(network, {.frameworks = {"torch"}, .placement = {{"Softmax", "reference"}}});
using Placement = std::vector<PlacementRule>;

/// Parses "Conv=torch" or "node:fc*=torch+reference". Throws: ValueError for a malformed word.
[[nodiscard]] PlacementRule placement_rule(std::string_view word);
[[nodiscard]] std::string to_string(const PlacementRule& rule);
/// Writes "Conv=torch,node:fc*=reference", the condition "placement" of a record.
[[nodiscard]] std::string to_words(const Placement& placement);
/// Writes " --place Conv=torch,node:fc*=reference"; empty without rules.
[[nodiscard]] std::string to_line(const Placement& placement);

/// Frameworks in order of preference. Throws: ValueError for an executor of whole networks,
/// "torch:torch".
[[nodiscard]] std::vector<std::string> frameworks_of(const PlacementRule& rule);
[[nodiscard]] bool applies(const PlacementRule& rule, const onnx::Node& node);
/// Throws: NotFound for a rule that matches no node of the network, with the nearest name.
void expect_matches(const Placement& placement, const Network& network);

}  // namespace d5
