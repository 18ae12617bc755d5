// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/graph/nested_transform.hpp"
#include "level1_network/graph/transform_steps.hpp"
#include "level1_network/nodes/differentiated_graph.hpp"

namespace d5 {

namespace {

void expect_no_gradient(const onnx::Graph& graph) {
  onnx::Visitor visitor;
  visitor.otherwise([](const onnx::Node& node) {
    if (!is_gradient(node)) return;
    throw Unsupported(fmt::format(
        "{} differentiates the nodes before it, which a transform would change; transform the "
        "network without it, and add it afterwards",
        onnx::describe(node)));
  });
  visitor.visit(graph);
}

std::vector<std::shared_ptr<Transform>> made(const TransformChain& chain,
                                             const Settings& wishes = {}) {
  std::vector<std::shared_ptr<Transform>> result;
  for (auto [name, settings] : chain) {
    const TransformEntry& entry = transforms().at(name);
    for (const auto& [wish, value] : wishes.values()) entry.offer(settings, wish, value);
    result.push_back(entry.make(settings));
  }
  return result;
}

}  // namespace

TransformChain transform_chain(const std::vector<std::string>& words) {
  TransformChain chain;
  for (const auto& word : words) chain.push_back(entry_of_words("transform", word));
  (void)made(chain);  // a misspelt name or setting is found before there is a network
  return chain;
}

std::string to_words(const TransformChain& chain) {
  std::string words;
  for (const auto& choice : chain) words += (words.empty() ? "" : ",") + to_words(choice);
  return words;
}

std::string to_line(const TransformChain& chain) {
  return chain.empty() ? "" : CommandLine().option("--transform", to_words(chain)).text();
}

Keeps kept_by(const TransformChain& chain) {
  Keeps least = Keeps::gradients;
  for (const auto& transform : made(chain)) least = std::max(least, transform->keeps());
  return least;
}

std::vector<std::shared_ptr<Transform>> detail::transform_steps(const TransformChain& chain,
                                                                const Settings& wishes,
                                                                const Network& network) {
  auto steps = made(chain, wishes);
  if (!steps.empty()) expect_no_gradient(network.graph());
  return steps;
}

std::vector<AppliedTransform> detail::apply_unjudged(Network& network, const TransformChain& chain,
                                                     const Settings& wishes) {
  const auto steps = transform_steps(chain, wishes, network);
  std::vector<AppliedTransform> applied;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t before = network.graph().nodes.size();
    TransformReport report = apply_throughout(*steps[i], network);
    applied.push_back(
        {to_words(chain[i]), before, network.graph().nodes.size(), std::move(report)});
  }
  return applied;
}

TextTable to_table(const std::vector<AppliedTransform>& applied) {
  using enum TextTable::Align;
  TextTable table({"transform", {"nodes before", right}, {"after", right}, "what"});
  for (const auto& [transform, before, after, report] : applied) {
    table.add({transform, fmt::format("{}", before), fmt::format("{}", after),
               report.what.empty() ? "nothing to change" : report.what});
    for (const auto& left : report.left) {
      table.add({"", "", "", left.starts_with("not judged: ") ? left : "left: " + left});
    }
  }
  return table;
}

}  // namespace d5
