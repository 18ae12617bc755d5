// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/report.hpp"
#include "d5/core/results.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/planned_memory.hpp"
#include "d5/onnx/file.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 net show lenet                             nodes, types, parameters
  d5 net show model.onnx --framework reference,torch
                                                who supports each node, and why not
  d5 net show lenet --batch 64 --format svg > memory.svg
                                                where the executor keeps what, and how long
  d5 net show resnet-50 --transform fold-batch-norm
                                                what a transform changes, and what it leaves
  d5 net show resnet-50 --format csv)";

struct Options : app::OutputOptions, app::RunOptions, app::ModelArgument {};

/// A network built by code declares no types of inner tensors: a file of it has them inferred.
onnx::Model with_types(const Network& network) {
  const bool known = std::ranges::all_of(network.graph().outputs, [](const auto& output) {
    return output.type.kind != ValueKind::none;
  });
  if (known) return network.model();
  const std::string file = onnx::serialize(network.model());
  return onnx::parse(std::as_bytes(std::span(file)), network.name());
}

TextTable nodes_of(const onnx::Graph& graph, const std::vector<std::string>& words) {
  std::map<std::string, std::string> types;
  for (const auto* list : {&graph.inputs, &graph.values, &graph.outputs}) {
    for (const auto& info : *list) types[info.name] = onnx::to_string(info.type);
  }
  std::vector<TextTable::Column> columns{"node", "operator", "inputs", "outputs", "type"};
  columns.insert(columns.end(), words.begin(), words.end());
  TextTable table(columns);
  for (const auto& node : graph.nodes) {
    std::vector<std::string> row{
        node.name,
        fmt::format("{}{}@{}", node.domain.empty() ? "" : node.domain + ".", node.op_type,
                    node.opset),
        fmt::format("{}", fmt::join(node.inputs, " ")),
        fmt::format("{}", fmt::join(node.outputs, " ")),
        node.outputs.empty() ? "" : types[node.outputs.front()]};
    for (const auto& word : words) {
      const Support support = framework(word).part<OperatorRegistry>().knows(node);
      row.push_back(support ? "yes" : support.reason);
    }
    table.add(std::move(row));
  }
  return table;
}

TextTable summary_of(Network& network, const onnx::Graph& graph, const std::string& model) {
  std::int64_t elements = 0;
  double bytes = 0;
  for (const auto& parameter : network.parameters()) {
    elements += parameter.value.elements();
    bytes += static_cast<double>(parameter.value.bytes());
  }
  TextTable table({"what", "value"});
  table.add({"network", network.name()});
  table.add({"from", model});
  for (const auto& [domain, version] : network.model().opset_imports) {
    table.add({"opset " + (domain.empty() ? "ai.onnx" : domain), fmt::format("{}", version)});
  }
  for (const auto& info : graph.inputs) {
    if (graph.initializers.contains(info.name)) continue;
    table.add({"input " + info.name, onnx::to_string(info.type)});
  }
  for (const auto& info : graph.outputs) {
    table.add({"output " + info.name, onnx::to_string(info.type)});
  }
  table.add({"nodes", fmt::format("{}", graph.nodes.size())});
  table.add({"parameters", fmt::format("{} tensors, {} elements, {}", network.parameters().size(),
                                       elements, with_prefix(bytes, "B"))});
  return table;
}

/// Planned for a run, backward too where it has a loss.
Report memory_report(const Options& options) {
  const auto executor =
      open_executor(options.frameworks.front(),
                    open_model(options.model, {{"seed", options.seed}}, app::chain_of(options)),
                    {.device = device_from_name(options.device), .seed = options.seed});
  const ValueMap inputs = random_inputs(executor->network(), sizes_of(options), options.seed);
  executor->plan(inputs, loss_of(executor->network()));
  return {.title = options.model, .plots = memory_plots(planned_memory(*executor))};
}

int run(const Options& options) {
  app::apply(options);
  if (is_drawn(options.format)) {
    app::print(to_text(memory_report(options), options.format), options.format);
    return app::kPassed;
  }
  Network network = open_model(options.model, {{"seed", options.seed}});
  const auto applied = apply_transforms(network, app::chain_of(options));
  const onnx::Graph graph = with_types(network).graph;
  if (options.format == Format::table) {
    if (!applied.empty()) {
      app::print(to_table(applied), options.format);
      fmt::print("\n");
    }
    app::print(summary_of(network, graph, options.model), options.format);
    fmt::print("\n");
  }
  app::print(nodes_of(graph, options.frameworks), options.format);
  return app::kPassed;
}

}  // namespace

void register_net_show(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("net show", "what a network is, and who can run it", kExamples,
                              [options] { return run(*options); });
  app::add_model_argument(command, *options);
  app::add_transform_option(command, *options);
  app::add_framework_options(command, *options);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
