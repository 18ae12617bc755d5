// SPDX-License-Identifier: Apache-2.0
// Removes Dropout nodes, which do nothing in inference.
#include <fmt/format.h>

#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5::transform {
namespace {

using View = onnx::nodes::Dropout;

/// Before opset 12 a run with gradients drops whatever the node says, which is why it has
/// `Keeps::outputs`.
class RemoveDropout final : public Transform {
 public:
  Keeps keeps() const override { return Keeps::outputs; }
  bool enters_graphs() const override { return true; }

  TransformReport apply(Network& network) const override {
    TransformReport report;
    NewNames instead;
    const GraphLinks links(network);
    for (const auto& node : network.graph().nodes) {
      if (node.op_type != View::kName || node.domain != View::kDomain) continue;
      if (const std::string reason = obstacle(network, links, node); !reason.empty()) {
        report.left.push_back(fmt::format("{}: {}", onnx::describe(node), reason));
        continue;
      }
      const std::string& x = node.inputs.front();
      const auto before = instead.find(x);  // another Dropout
      instead[node.outputs.front()] = before == instead.end() ? x : before->second;
    }
    bypass(network, instead);
    if (!instead.empty()) report.what = fmt::format("removed {} Dropout", instead.size());
    return report;
  }

 private:
  /// The reason why the node stays; empty if it can be removed.
  static std::string obstacle(const Network& network, const GraphLinks& links,
                              const onnx::Node& node) {
    if (node.has_output(View::Out::mask) && links.is_read(node.outputs[View::Out::mask])) {
      return fmt::format("its mask '{}' is read", printable(node.outputs[View::Out::mask]));
    }
    if (!node.has_input(View::In::training_mode)) return "";
    const std::string& name = node.inputs[View::In::training_mode];
    const Tensor* training = fixed_value(network, name);
    if (!training) return fmt::format("'{}', its training_mode, is not constant", printable(name));
    return training->on_host().item<bool>() ? "training_mode is true: it drops in inference too"
                                            : "";
  }
};

}  // namespace

void register_remove_dropout(Registry<TransformEntry>& registry) {
  registry.add("remove-dropout",
               TransformEntry::of<RemoveDropout>("removes Dropout, for inference"));
}

}  // namespace d5::transform
