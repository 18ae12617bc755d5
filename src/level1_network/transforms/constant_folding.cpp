// SPDX-License-Identifier: Apache-2.0
// Replaces nodes whose inputs are all constant by their results.
#include <fmt/format.h>

#include <algorithm>

#include "d5/level1_network/graph/transform.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/plan/computed_values.hpp"

namespace d5::transform {
namespace {

struct ConstantFoldingOptions {
  std::int64_t most_bytes = 64 << 20;
  void declare(OptionList& options) {
    options.add("most_bytes", most_bytes,
                "maximum size of a folded output; constants are saved in files",
                {.least = 0, .unit = "byte"});
  }
};

/// Does once what compiling does for each plan, so that a file or another framework benefits too. A
/// node that writes an output of the network stays, as nodes must write outputs.
class ConstantFolding final : public Transform {
 public:
  using Options = ConstantFoldingOptions;
  explicit ConstantFolding(const Options& options) : options_(options) {}
  bool enters_graphs() const override { return true; }

  TransformReport apply(Network& network) const override {
    TransformReport report;
    const GraphLinks links(network);
    const auto leaves = [&](const std::string& output) { return links.leaves(output); };
    Splice change;
    std::set<std::string> inputs;
    for_each_computed(network, [&](const onnx::Node& node, const std::vector<Value>& values) {
      if (std::ranges::any_of(node.outputs, leaves)) return false;
      if (const std::string reason = obstacle(values); !reason.empty()) {
        report.left.push_back(fmt::format("{}: {}", onnx::describe(node), reason));
        return false;
      }
      change.remove.push_back(first_output(node));
      inputs.insert(node.inputs.begin(), node.inputs.end());
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!node.has_output(k)) continue;
        inputs.insert(node.outputs[k]);  // input of another folded node
        change.constants[node.outputs[k]] = values[k].tensor();
      }
      return true;
    });
    if (change.remove.empty()) return report;
    report.what = fmt::format("computed {} nodes", change.remove.size());
    network.splice(std::move(change));
    remove_unread_values(network, inputs);
    return report;
  }

 private:
  std::string obstacle(const std::vector<Value>& values) const {
    std::size_t bytes = 0;
    for (const auto& value : values) {
      if (value.kind() == ValueKind::none) continue;
      if (!value.is_tensor()) return "it makes no tensor, and constants are tensors";
      bytes += value.tensor().bytes();
    }
    if (bytes <= std::size_t(options_.most_bytes)) return "";
    return fmt::format("its outputs are {} bytes, above most_bytes={}", bytes, options_.most_bytes);
  }

  Options options_;
};

}  // namespace

void register_constant_folding(Registry<TransformEntry>& registry) {
  registry.add("constant-folding",
               TransformEntry::of<ConstantFolding>(
                   "constant folding: computes nodes whose inputs are all constant"));
}

}  // namespace d5::transform
