// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/placement.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <set>

#include "d5/core/entries/registry.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5 {
namespace {

constexpr std::string_view kByName = "node:";

bool matches(const std::string& pattern, const std::string& name) {
  return pattern == name || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string operator_of(const onnx::Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + '.' + node.op_type;
}

void expect_match(const PlacementRule& rule, const Network& network) {
  const bool by_name = rule.nodes.starts_with(kByName);
  bool found = false;
  std::set<std::string> known;
  onnx::Visitor visitor;
  visitor.otherwise([&](const onnx::Node& node) {
    found = found || applies(rule, node);
    known.insert(by_name ? std::string(kByName) + node.name : operator_of(node));
  });
  visitor.visit(network.graph());
  if (found) return;
  throw_unknown_name(fmt::format("placement {}: network '{}': {}", printable(to_string(rule)),
                                 printable(network.name()), by_name ? "node" : "operator"),
                     rule.nodes, {known.begin(), known.end()});
}

}  // namespace

PlacementRule placement_rule(std::string_view word) {
  const auto equals = word.rfind('=');
  if (equals == word.npos || equals == 0 || equals + 1 == word.size()) {
    throw ValueError(
        fmt::format("placement '{}': expected OPERATOR=FRAMEWORK or node:NAME=FRAMEWORK, as in "
                    "Conv=torch or node:fc*=torch+reference",
                    printable(word)));
  }
  return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

std::vector<std::string> frameworks_of(const PlacementRule& rule) {
  const ExecutorWord word = rule.frameworks;
  if (!word.is_own()) return word.frameworks();
  throw ValueError(fmt::format(
      "placement {}: a framework's own executor runs whole networks; name the framework alone",
      printable(to_string(rule))));
}

std::string to_string(const PlacementRule& rule) { return rule.nodes + '=' + rule.frameworks; }

std::string to_words(const Placement& placement) {
  std::string words;
  for (const auto& rule : placement) words += (words.empty() ? "" : ",") + to_string(rule);
  return words;
}

std::string to_line(const Placement& placement) {
  return placement.empty() ? "" : CommandLine().option("--place", to_words(placement)).text();
}

bool applies(const PlacementRule& rule, const onnx::Node& node) {
  if (rule.nodes.starts_with(kByName)) {
    return matches(rule.nodes.substr(kByName.size()), node.name);
  }
  return matches(rule.nodes, operator_of(node));
}

void expect_matches(const Placement& placement, const Network& network) {
  for (const auto& rule : placement) expect_match(rule, network);
}

}  // namespace d5
