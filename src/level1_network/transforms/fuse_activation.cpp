// SPDX-License-Identifier: Apache-2.0
// Fuses an operator with the activation behind it, and a convolution also with a sum in between.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/value_descs.hpp"

namespace d5::transform {
namespace {

bool is_conv(const onnx::Node& node) { return node.domain.empty() && node.op_type == "Conv"; }
/// Since opset 11 these have the meaning of the fused ones.
bool is_product(const onnx::Node& node) {
  return (is_conv(node) || (node.domain.empty() && node.op_type == "Gemm")) && node.opset >= 11;
}
bool is_sum(const onnx::Node& node) { return node.domain.empty() && node.op_type == "Add"; }
/// Activations whose slope can be computed from the output: the gradient has no input after fusion.
bool is_activation(const onnx::Node& node) {
  constexpr const char* kNames[] = {"Relu", "Sigmoid", "Tanh"};
  return node.domain.empty() && std::ranges::find(kNames, node.op_type) != std::end(kNames);
}

/// Nodes that become one.
struct Chain {
  const onnx::Node *product, *sum, *activation;  ///< sum: null where nothing is added
  std::string added = {};                        ///< the sum's other operand
};

onnx::Node fused(const Chain& chain) {
  onnx::Node node = *chain.product;
  node.op_type = "Fused" + chain.product->op_type;
  node.domain = "com.microsoft";
  node.opset = 0;
  if (chain.sum) {
    node.inputs.resize(3);  // a bias that is left out keeps its place
    node.inputs.push_back(chain.added);
  }
  node.outputs = {chain.activation->outputs.front()};
  node.attributes["activation"] = chain.activation->op_type;
  return node;
}

/// Types and shapes if the sizes left open by inputs were `first`, `first + step`, ...: another
/// number for each name. Most pyramids of images accept multiples of 32.
ValueDescs values_for(const Network& network, std::int64_t first, std::int64_t step) {
  std::map<std::string, std::int64_t> sizes;
  return infer_values(network.graph(), [&, next = first](const onnx::Dim& open) mutable {
    const auto* name = std::get_if<std::string>(&open);
    if (!name) return std::exchange(next, next + step);
    const auto [size, is_new] = sizes.try_emplace(*name, next);
    if (is_new) next += step;
    return size->second;
  });
}

/// The chains of a network that can be fused, and the reasons against the others.
class Chains {
 public:
  explicit Chains(const Network& network)
      : links_(network), values_{values_for(network, 64, 64), values_for(network, 96, 160)} {
    for (const auto& node : network.graph().nodes) {
      if (is_activation(node)) add(node);
    }
  }

  [[nodiscard]] const std::vector<Chain>& chains() const { return chains_; }
  [[nodiscard]] const std::vector<std::string>& left() const { return left_; }

 private:
  void add(const onnx::Node& activation) {
    const std::string& x = activation.inputs.front();
    Chain chain{.product = links_.writer(x), .sum = nullptr, .activation = &activation};
    if (chain.product && is_sum(*chain.product)) chain = through_sum(chain);
    if (!chain.product || !is_product(*chain.product)) return;
    if (!has_one_reader(x)) {
      leave(activation, fmt::format("'{}' is read by others too", printable(x)));
    } else if (chain.sum && !are_alike(x, chain.added)) {
      leave(activation,
            fmt::format("'{}', which is added before, may be broadcast", printable(chain.added)));
    } else {
      chains_.push_back(std::move(chain));
    }
  }

  /// Turns the chain's product into a sum, one operand of which a Conv writes for it alone;
  /// `product` is null if there is no such Conv.
  [[nodiscard]] Chain through_sum(Chain chain) const {
    chain.sum = std::exchange(chain.product, nullptr);
    const std::vector<std::string>& operands = chain.sum->inputs;
    for (std::size_t i = 0; i < 2 && !chain.product && operands[0] != operands[1]; ++i) {
      const onnx::Node* writer = links_.writer(operands[i]);
      if (!writer || !is_conv(*writer) || !has_one_reader(operands[i])) continue;
      chain.product = writer;
      chain.added = operands[1 - i];
    }
    return chain;
  }

  [[nodiscard]] bool has_one_reader(const std::string& tensor) const {
    return !links_.leaves(tensor) && links_.readers(tensor).size() == 1;
  }
  /// Whether type and shape are equal for all open sizes; each size is tried with two numbers,
  /// because a fixed size may equal one of them.
  [[nodiscard]] bool are_alike(const std::string& a, const std::string& b) const {
    return std::ranges::all_of(values_, [&](const ValueDescs& known) {
      const auto first = known.find(a), second = known.find(b);
      return first != known.end() && second != known.end() && first->second.is_tensor() &&
             second->second.is_tensor() && first->second.tensor == second->second.tensor;
    });
  }
  void leave(const onnx::Node& activation, const std::string& reason) {
    left_.push_back(fmt::format("{}: {}", onnx::describe(activation), reason));
  }

  GraphLinks links_;
  std::array<ValueDescs, 2> values_;
  std::vector<Chain> chains_;
  std::vector<std::string> left_;
};

/// FusedConv and FusedGemm of com.microsoft, which ONNX Runtime also runs.
class FuseActivation final : public Transform {
 public:
  bool enters_graphs() const override { return true; }

  TransformReport apply(Network& network) const override {
    const Chains found(network);
    TransformReport report{.what = {}, .left = found.left()};
    if (found.chains().empty()) return report;
    Splice change;
    std::size_t sums = 0;
    for (const Chain& chain : found.chains()) {
      for (const onnx::Node* node : {chain.product, chain.sum, chain.activation}) {
        if (node) change.remove.push_back(node->outputs.front());
      }
      sums += chain.sum ? 1 : 0;
      change.nodes.push_back(fused(chain));
    }
    report.what =
        fmt::format("fused {} activations{} into what is before them", found.chains().size(),
                    sums == 0 ? "" : fmt::format(" and {} sums", sums));
    network.splice(std::move(change));
    return report;
  }
};

}  // namespace

void register_fuse_activation(Registry<TransformEntry>& registry) {
  registry.add("fuse-activation", TransformEntry::of<FuseActivation>(
                                      "fuses Conv or Gemm with the following activation, and a "
                                      "Conv with the sum between them"));
}

}  // namespace d5::transform
