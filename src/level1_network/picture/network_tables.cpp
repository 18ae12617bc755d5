// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/picture/network_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/results/results.hpp"
#include "d5/level1_network/validation/node_support.hpp"
#include "level1_network/graph/held_weights.hpp"
#include "level1_network/graph/parameter_words.hpp"

namespace d5 {
namespace {

using Nodes = std::vector<const onnx::Node*>;

/// "yes", or the number of nodes that a framework lacks, and the reason for the first.
std::string support_words(const NodeSupport& support, const Nodes& nodes) {
  std::size_t lacking = 0;
  std::string reason;
  for (const auto* node : nodes) {
    const Support one = support.of(*node);
    if (!one && lacking++ == 0) reason = one.reason;
  }
  if (lacking == 0) return "yes";
  return nodes.size() == 1 ? reason
                           : fmt::format("not {} of {}: {}", lacking, nodes.size(), reason);
}

/// Nodes of part `i`, called `name`.
Nodes nodes_of(const Network& network, const NetworkSummary& summary, SummaryBy by,
               const std::string& name, std::size_t i) {
  const auto& nodes = network.graph().nodes;
  if (by == SummaryBy::node) return {&nodes[i]};
  Nodes result;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (part_name(summary.nodes[k], by) == name) result.push_back(&nodes[k]);
  }
  return result;
}

}  // namespace

SummaryBy usual_parts(const NetworkSummary& summary) {
  constexpr std::size_t kManyNodes = 40;
  const std::size_t layers = parts_of(summary, SummaryBy::layer).size();
  return summary.nodes.size() > kManyNodes && 2 * layers <= summary.nodes.size() ? SummaryBy::layer
                                                                                 : SummaryBy::node;
}

TextTable parts_table(const Network& network, const NetworkSummary& summary, SummaryBy by,
                      const std::vector<std::string>& frameworks, Format format) {
  const std::vector<NodeSupport> supports(frameworks.begin(), frameworks.end());
  const TextTable table = to_table(summary, by, format);
  auto columns = table.columns();
  const bool names_tensors = by == SummaryBy::node && !is_for_people(format);
  if (names_tensors) columns.insert(columns.end(), {"inputs", "outputs"});
  columns.insert(columns.end(), frameworks.begin(), frameworks.end());
  TextTable result(columns);
  const auto parts = parts_of(summary, by);
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    auto row = table.rows()[i];
    if (i < parts.size()) {
      if (names_tensors) {
        row.push_back(fmt::format("{}", fmt::join(network.graph().nodes[i].inputs, " ")));
        row.push_back(fmt::format("{}", fmt::join(network.graph().nodes[i].outputs, " ")));
      }
      const Nodes nodes = nodes_of(network, summary, by, parts[i].name, i);
      for (const NodeSupport& support : supports) row.push_back(support_words(support, nodes));
    }
    row.resize(columns.size());
    result.add(std::move(row));
  }
  return result;
}

TextTable facts_table(Network& network, const NetworkSummary& summary, const std::string& model,
                      const OpenSizes& sizes) {
  TextTable table({"what", "value"});
  table.add({"network", network.name()});
  table.add({"from", model});
  for (const auto& [domain, version] : network.model().opset_imports) {
    table.add({"opset " + (domain.empty() ? "ai.onnx" : domain), fmt::format("{}", version)});
  }
  const auto type_of = [&](const std::string& name) {
    const auto& [type, desc] = summary.tensors.at(name);
    return type.kind == ValueKind::none ? to_string(desc) : onnx::to_string(type);
  };
  for (const auto& name : network.input_names()) table.add({"input " + name, type_of(name)});
  for (const auto& name : network.output_names()) table.add({"output " + name, type_of(name)});
  table.add({"nodes", fmt::format("{}", summary.total.nodes)});
  std::size_t held = 0;
  for (const auto& node : network.graph().nodes) held += held_weights(node).size();
  const std::size_t lifted = count_lifted(network);
  table.add(
      {"parameters",
       fmt::format("{} tensors, {} elements, {}{}{}", network.parameters().size() + held,
                   summary.total.parameters, with_prefix(summary.total.parameter_bytes, "B"),
                   held > 0 ? fmt::format("; {} of them in graphs that nodes hold", held) : "",
                   lifted > 0
                       ? fmt::format("; {} of them from Constant nodes or nodes' graphs", lifted)
                       : "")});
  for (const auto& words : constant_words(network)) table.add({"constant", words});
  table.add({"FLOP, bytes", "of one forward run" + to_line(sizes)});
  const double flop = summary.total.cost.flop, parameters = summary.total.parameter_bytes;
  if (flop > 0 && parameters > 0) {
    // With C FLOP forward per sample and D bytes of parameters: C / D, and the ratio for a training
    // step. A step of batch B computes about 3 B C (backward twice as much as forward), and an
    // all-reduce moves about 2 D.
    const double intensity = flop / double(sizes.batch) / parameters;
    table.add({"model intensity",
               fmt::format("{:.4g} FLOP/B of parameters forward, a sample; {:.4g} "
                           "FLOP/B of all-reduce in a step of {}",
                           intensity, 1.5 * double(sizes.batch) * intensity, sizes.batch)});
  }
  if (summary.total.incomplete > 0) {
    table.add({"not in the sums", fmt::format("work of {} of the nodes; the first: {}",
                                              summary.total.incomplete, summary.total.reason)});
  }
  return table;
}

}  // namespace d5
