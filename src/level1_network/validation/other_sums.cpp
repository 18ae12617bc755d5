// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/other_sums.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "d5/onnx/nodes.hpp"
#include "level1_network/nodes/value_descs.hpp"
#include "level1_network/validation/nudge.hpp"
#include "onnx/tensor_type.hpp"

namespace d5 {
namespace {

/// For shorter sums, the effect of the order is below the factor of a bound.
constexpr std::int64_t kLong = 64;
constexpr std::int64_t kLongest = 1 << 17;  // a node runs for each term: 0.1 s
constexpr std::int64_t kFirstScan = 9;      // opset

class SumReplacement {
 public:
  SumReplacement(const Network& network, const ValueMap& fed) : model_(network.model()) {
    ValueDescs known;
    for (const auto& [name, value] : fed) known[name] = value.desc();
    descs_ = infer_graph(network.graph(), std::move(known)).descs;
  }

  std::optional<Network> run() {
    bool any = false;
    for (onnx::Node& node : model_.graph.nodes) {
      const bool adds_up = node.op_type == "ReduceSum" || node.op_type == "ReduceMean";
      const bool may_be = adds_up && node.domain.empty() && node.opset >= kFirstScan;
      if (may_be && replace(node)) {
        any = true;
      } else {
        nodes_.push_back(node);
      }
    }
    if (!any) return std::nullopt;
    model_.graph.nodes = std::move(nodes_);
    return Network(std::move(model_));
  }

 private:
  [[nodiscard]] const TensorDesc* floats(const std::string& name) const {
    const auto found = descs_.find(name);
    const bool is_it = found != descs_.end() && found->second.is_tensor() &&
                       found->second.is_static() && ulp_of_one(found->second.tensor.dtype) > 0;
    return is_it ? &found->second.tensor : nullptr;
  }

  /// The axes, ascending; all if none are given. Empty if they are unknown.
  [[nodiscard]] std::vector<std::int64_t> axes_of(const onnx::Node& node, std::int64_t rank) const {
    std::vector<std::int64_t> axes;
    if (const auto* told = node.attribute<std::vector<std::int64_t>>("axes")) axes = *told;
    if (node.has_input(1)) {
      const Tensor* value = nullptr;
      const auto known = model_.graph.initializers.find(node.inputs[1]);
      if (known != model_.graph.initializers.end()) value = &known->second;
      for (const onnx::Node& other : model_.graph.nodes) {
        if (other.op_type != "Constant" || other.outputs.front() != node.inputs[1]) continue;
        value = other.attribute<Tensor>("value");
      }
      if (!value) return {};
      const auto numbers = value->span<std::int64_t>();
      axes.assign(numbers.begin(), numbers.end());
    }
    for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::ranges::sort(axes);
    const auto* noop = node.attribute<std::int64_t>("noop_with_empty_axes");
    if (axes.empty() && !(noop && *noop != 0)) {
      axes.resize(std::size_t(rank));
      std::iota(axes.begin(), axes.end(), 0);
    }
    return axes;
  }

  void add(const onnx::Node& like, const char* op_type, std::vector<std::string> inputs,
           const std::string& output,
           std::map<std::string, onnx::Attribute, std::less<>> attributes) {
    onnx::Node node;
    node.op_type = op_type;
    node.opset = like.opset;
    node.name = output + "/" + op_type;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes = std::move(attributes);
    nodes_.push_back(std::move(node));
  }

  bool replace(const onnx::Node& node) {
    const TensorDesc* whole = floats(node.inputs.front());
    const TensorDesc* sum = floats(node.outputs.front());
    if (!whole || !sum) return false;
    const auto rank = std::int64_t(whole->shape.rank());
    const auto axes = axes_of(node, rank);
    std::int64_t terms = 1;
    for (const std::int64_t axis : axes) terms *= whole->shape[std::size_t(axis)];
    if (terms < kLong || terms > kLongest || whole->shape.elements() == 0) return false;
    Shape slice;
    std::vector<std::int64_t> order;  // dimensions, those of a sum last
    for (std::int64_t i = 0; i < rank; ++i) {
      if (std::ranges::binary_search(axes, i)) continue;
      slice.push_back(whole->shape[std::size_t(i)]);
      order.push_back(i);
    }
    const auto place = std::ssize(order);
    std::vector<std::int64_t> rows(slice.begin(), slice.end());
    rows.push_back(terms);
    order.insert(order.end(), axes.begin(), axes.end());
    const std::string& output = node.outputs.front();
    const std::string zero = output + "/zero", last = output + "/last", shaped = output + "/shaped",
                      sizes = output + "/sizes", count = output + "/count",
                      turned = output + "/turned", row_sizes = output + "/row sizes",
                      in_rows = output + "/rows";
    const bool is_mean = node.op_type == "ReduceMean";
    add(node, "Constant", {}, zero, {{"value", Tensor::zeros(whole->dtype, slice)}});
    add(node, "Transpose", {node.inputs.front()}, turned, {{"perm", order}});
    add(node, "Constant", {}, row_sizes, {{"value", Tensor::vector<std::int64_t>(rows)}});
    add(node, "Reshape", {turned, row_sizes}, in_rows, {});
    add(node, "Scan", {zero, in_rows}, last,
        {{"num_scan_inputs", std::int64_t{1}},
         {"scan_input_axes", std::vector<std::int64_t>{std::int64_t(place)}},
         {"body", addition(node.opset, tensor_type({whole->dtype, slice}))}});
    const std::vector<std::int64_t> dims(sum->shape.begin(), sum->shape.end());
    add(node, "Constant", {}, sizes, {{"value", Tensor::vector<std::int64_t>(dims)}});
    add(node, "Reshape", {last, sizes}, is_mean ? shaped : output, {});
    if (!is_mean) return true;
    Tensor number = Tensor::zeros(whole->dtype, {});
    dispatch(FloatTypes{}, whole->dtype, "count",
             [&]<class T>() { number.span<T>()[0] = T(Arithmetic<T>(double(terms))); });
    add(node, "Constant", {}, count, {{"value", std::move(number)}});
    add(node, "Div", {shaped, count}, output, {});
    return true;
  }

  /// Adds the next number to the sum so far.
  static std::shared_ptr<const onnx::Graph> addition(std::int64_t opset, const onnx::Type& type) {
    auto body = std::make_shared<onnx::Graph>();
    body->name = "addition";
    onnx::Node node;
    node.op_type = "Add";
    node.opset = opset;
    node.inputs = {"so far", "next"};
    node.outputs = {"sum"};
    body->nodes = {node};
    body->inputs = {{"so far", type}, {"next", type}};
    body->outputs = {{"sum", type}};
    return body;
  }

  onnx::Model model_;
  ValueDescs descs_;
  std::vector<onnx::Node> nodes_;
};

}  // namespace

std::optional<Network> with_other_sums(const Network& network, const ValueMap& fed) {
  return SumReplacement(network, fed).run();
}

}  // namespace d5
