// SPDX-License-Identifier: Apache-2.0
// Moves Transposes behind elementwise nodes until they meet their inverse.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/elementwise_nodes.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5::transform {
namespace {

using Order = std::vector<std::int64_t>;

bool is_transpose(const onnx::Node& node) {
  return node.domain.empty() && node.op_type == "Transpose";
}

bool is_identity(const Order& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != std::int64_t(i)) return false;
  }
  return true;
}

/// Rebuilds the network with each Transpose as late as possible, before a node that is not
/// elementwise. Meanwhile a value is a `base` in an `order`: value = Transpose(base, perm = order).
class LateTransposes {
 public:
  explicit LateTransposes(const Network& network) : network_(network), links_(network) {}

  Splice run() {
    for (const auto& node : network_.graph().nodes) {
      const std::string output = first_output(node);
      if (!output.empty()) change_.remove.push_back(output);
      if (is_transpose(node) && add_order(node)) {
        leave(output);
      } else if (const Order order = common_order(node); !order.empty()) {
        add_before(node, order);
        leave(output);
      } else {
        for (const auto& name : read_names(node)) make(name);
        onnx::Node copy = node;
        rename_reads(copy, names_);
        change_.nodes.push_back(std::move(copy));
      }
    }
    return std::move(change_);
  }
  [[nodiscard]] std::size_t transposes() const { return transposes_; }

 private:
  struct Late {
    std::string base;
    Order order;
  };

  /// Whether its order is known; the rank decides for a Transpose without perm.
  bool add_order(const onnx::Node& node) {
    const auto perm = onnx::nodes::Transpose(node).perm();
    if (!perm || perm->empty()) return false;
    const std::string& x = node.inputs.front();
    Late late{.base = x, .order = *perm};
    if (const auto before = late_.find(x); before != late_.end()) {
      late.base = before->second.base;
      for (auto& axis : late.order) axis = before->second.order.at(std::size_t(axis));
    }
    late_[node.outputs.front()] = std::move(late);
    return true;
  }

  /// Common order of all inputs of an elementwise node; empty if it cannot move before a Transpose.
  [[nodiscard]] Order common_order(const onnx::Node& node) const {
    if (!is_elementwise(node)) return {};
    Order order;
    for (const auto& name : node.inputs) {
      const auto late = late_.find(name);
      if (late == late_.end()) continue;
      if (!order.empty() && order != late->second.order) return {};
      order = late->second.order;
    }
    for (const auto& name : node.inputs) {
      if (!name.empty() && !late_.contains(name) && !fits(name, order.size())) return {};
    }
    return order;
  }
  /// Whether the value broadcasts along all axes except one at most, as a scalar or a bias.
  [[nodiscard]] bool fits(const std::string& name, std::size_t rank) const {
    const Tensor* value = known_value(network_, name);
    if (!value || value->shape().rank() > rank) return false;
    const auto dims = value->shape().dims();
    return std::ranges::count_if(dims, [](std::int64_t size) { return size != 1; }) <= 1;
  }

  void add_before(const onnx::Node& node, const Order& order) {
    onnx::Node copy = node;
    for (auto& name : copy.inputs) {
      if (const auto late = late_.find(name); late != late_.end()) {
        name = late->second.base;
      } else if (!name.empty()) {
        name = turned(name, order);
      }
    }
    const std::string& output = node.outputs.front();
    const std::string base = network_.unused_name(output + ".base");
    late_[output] = {.base = base, .order = order};
    copy.outputs = {base};
    change_.nodes.push_back(std::move(copy));
  }
  /// Transposes a value that `fits`, for readers of bases.
  std::string turned(const std::string& name, const Order& order) {
    const Shape& shape = known_value(network_, name)->shape();
    if (shape.elements() == 1) return name;
    Order sizes(order.size(), 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t missing = order.size() - shape.rank();
      if (i >= missing) sizes[std::size_t(order[i])] = shape[i - missing];
    }
    const std::string result =
        network_.unused_name(fmt::format("{}.as_{}", name, fmt::join(sizes, "x")));
    if (!made_.insert(result).second) return result;
    const std::string constant = network_.unused_name(result + ".shape");
    change_.constants[constant] = Tensor::vector<std::int64_t>(sizes);
    onnx::Node& reshape = change_.nodes.emplace_back();
    reshape.op_type = "Reshape";
    reshape.inputs = {name, constant};
    reshape.outputs = {result};
    return result;
  }

  /// Values that are read from outside must exist under their names.
  void leave(const std::string& tensor) {
    if (!links_.leaves(tensor)) return;
    const auto& [base, order] = late_.at(tensor);
    add_transpose(base, order, tensor);
    made_.insert(tensor);
  }
  /// Makes the value itself for a reader that needs it: a Transpose, or the base if that is the
  /// same.
  void make(const std::string& tensor) {
    const auto late = late_.find(tensor);
    if (late == late_.end() || made_.contains(tensor)) return;
    if (is_identity(late->second.order)) {
      names_[tensor] = late->second.base;
    } else if (made_.insert(tensor).second) {
      add_transpose(late->second.base, late->second.order, tensor);
    }
  }
  void add_transpose(const std::string& from, const Order& order, const std::string& to) {
    onnx::Node& node = change_.nodes.emplace_back();
    const bool same = is_identity(order);
    node.op_type = same ? "Identity" : "Transpose";
    if (!same) node.attributes["perm"] = order;
    node.inputs = {from};
    node.outputs = {to};
    transposes_ += same ? 0 : 1;
  }

  const Network& network_;
  const GraphLinks links_;
  std::map<std::string, Late, std::less<>> late_;
  std::set<std::string> made_;
  NewNames names_;
  std::size_t transposes_ = 0;
  Splice change_;
};

/// Frameworks with NHWC images export a Transpose before and behind every convolution.
class CancelTransposes final : public Transform {
 public:
  bool enters_graphs() const override { return true; }
  TransformReport apply(Network& network) const override {
    const auto before = std::size_t(std::ranges::count_if(network.graph().nodes, is_transpose));
    LateTransposes late(network);
    Splice change = late.run();
    if (late.transposes() >= before) return {};
    network.splice(std::move(change));
    return {fmt::format("{} Transpose became {}", before, late.transposes())};
  }
};

}  // namespace

void register_cancel_transposes(Registry<TransformEntry>& registry) {
  registry.add("cancel-transposes",
               TransformEntry::of<CancelTransposes>(
                   "moves Transpose past elementwise nodes and cancels it with its inverse"));
}

}  // namespace d5::transform
