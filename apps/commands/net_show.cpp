// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>

#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/text_table.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/results.hpp"
#include "d5/level0_ops/operator_registry.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 net show lenet                             nodes, types, parameters
  d5 net show model.onnx --framework reference,torch
                                                who supports each node, and why not
  d5 net show resnet-50 --format csv)";

struct Options : app::OutputOptions, app::RunOptions, app::ModelArgument {};

app::TextTable nodes_of(const Network& network, const std::vector<std::string>& words) {
  std::map<std::string, std::string> types;
  for (const auto* list :
       {&network.graph().inputs, &network.graph().values, &network.graph().outputs}) {
    for (const auto& info : *list) types[info.name] = onnx::to_string(info.type);
  }
  std::vector<std::string> columns{"node", "operator", "inputs", "outputs", "type"};
  columns.insert(columns.end(), words.begin(), words.end());
  app::TextTable table(columns);
  for (const auto& node : network.graph().nodes) {
    std::vector<std::string> row{
        node.name,
        fmt::format("{}{}@{}", node.domain.empty() ? "" : node.domain + ".", node.op_type,
                    node.opset),
        fmt::format("{}", fmt::join(node.inputs, " ")),
        fmt::format("{}", fmt::join(node.outputs, " ")),
        node.outputs.empty() ? "" : types[node.outputs.front()]};
    for (const auto& word : words) {
      const Support support = framework(word).part<OperatorRegistry>().supports(node);
      row.push_back(support ? "yes" : support.reason);
    }
    table.add(std::move(row));
  }
  return table;
}

app::TextTable summary_of(Network& network, const std::string& model) {
  std::int64_t elements = 0;
  double bytes = 0;
  for (const auto& parameter : network.parameters()) {
    elements += parameter.value.elements();
    bytes += static_cast<double>(parameter.value.bytes());
  }
  app::TextTable table({"what", "value"});
  table.add({"network", network.name()});
  table.add({"from", model});
  for (const auto& [domain, version] : network.model().opset_imports) {
    table.add({"opset " + (domain.empty() ? "ai.onnx" : domain), fmt::format("{}", version)});
  }
  for (const auto& info : network.graph().inputs) {
    if (network.graph().initializers.contains(info.name)) continue;
    table.add({"input " + info.name, onnx::to_string(info.type)});
  }
  for (const auto& info : network.graph().outputs) {
    table.add({"output " + info.name, onnx::to_string(info.type)});
  }
  table.add({"nodes", fmt::format("{}", network.graph().nodes.size())});
  table.add({"parameters", fmt::format("{} tensors, {} elements, {}", network.parameters().size(),
                                       elements, with_prefix(bytes, "B"))});
  return table;
}

int run(const Options& options) {
  app::apply(options);
  Network network = app::open_network(options, {.seed = options.seed});
  if (options.format == app::Format::table) {
    fmt::print("{}\n", summary_of(network, options.model).to_text(options.format));
  }
  fmt::print("{}", nodes_of(network, options.frameworks).to_text(options.format));
  return app::kPassed;
}

}  // namespace

void register_net_show(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("net show", "what a network is, and who can run it", kExamples,
                              [options] { return run(*options); });
  app::add_model_argument(command, *options);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
