// SPDX-License-Identifier: Apache-2.0
// An operator and the activation behind it become one.
#include <fmt/format.h>

#include <algorithm>

#include "d5/level1_network/transform.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/graph_links.hpp"

namespace d5::transform {
namespace {

/// FusedConv and FusedGemm of com.microsoft, which ONNX Runtime runs as well. Activations whose
/// slope their output tells: the others' gradient needs what is no longer there.
class FuseActivation final : public Transform {
 public:
  bool enters_graphs() const override { return true; }

  TransformReport apply(Network& network) const override {
    TransformReport report;
    Splice change;
    const GraphLinks links(network);
    for (const auto& node : network.graph().nodes) {
      if (!is_activation(node)) continue;
      const std::string& x = node.inputs.front();
      const onnx::Node* product = links.writer(x);
      if (!product || !is_product(*product)) continue;
      if (links.leaves(x) || links.readers(x).size() > 1) {
        report.left.push_back(
            fmt::format("{}: '{}' is read by others too", onnx::describe(node), printable(x)));
        continue;
      }
      change.remove.push_back(x);
      change.remove.push_back(node.outputs.front());
      change.nodes.push_back(fused(*product, node));
    }
    if (change.nodes.empty()) return report;
    report.what = fmt::format("fused {} activations into what is before them", change.nodes.size());
    network.splice(std::move(change));
    return report;
  }

 private:
  static bool is_activation(const onnx::Node& node) {
    constexpr const char* kNames[] = {"Relu", "Sigmoid", "Tanh"};
    return node.domain.empty() && std::ranges::find(kNames, node.op_type) != std::end(kNames);
  }
  /// Since these opsets they mean what the fused ones do.
  static bool is_product(const onnx::Node& node) {
    if (!node.domain.empty()) return false;
    return (node.op_type == "Conv" && node.opset >= 11) ||
           (node.op_type == "Gemm" && node.opset >= 11);
  }
  static onnx::Node fused(const onnx::Node& product, const onnx::Node& activation) {
    onnx::Node node = product;
    node.op_type = "Fused" + product.op_type;
    node.domain = "com.microsoft";
    node.opset = 0;
    node.outputs = {activation.outputs.front()};
    node.attributes["activation"] = activation.op_type;
    return node;
  }
};

}  // namespace

void register_fuse_activation(Registry<TransformEntry>& registry) {
  registry.add("fuse-activation", TransformEntry::of<FuseActivation>(
                                      "makes one of Conv or Gemm and the activation behind it"));
}

}  // namespace d5::transform
