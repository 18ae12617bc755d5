// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/tensor_pairs.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace d5::detail {
namespace {

template <class T>
T attribute_or(const onnx::Node& node, std::string_view name, T usual) {
  const T* value = node.attribute<T>(name);
  return value ? *value : usual;
}

bool is_standard(const onnx::Node& node, std::string_view op_type) {
  return node.domain.empty() && node.op_type == op_type;
}

/// y = x W + b.
struct Linear {
  std::string weight, bias;  // no bias: empty
  std::size_t in = 0;        // axis of the weight
  std::int64_t units_in = 0, units_out = 0;
};

class PairSearch {
 public:
  explicit PairSearch(const Network& network) : network_(network), nodes_(network.graph().nodes) {}

  [[nodiscard]] std::vector<TensorPair> pairs() {
    std::vector<TensorPair> result;
    std::set<std::size_t> taken;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (taken.contains(node)) continue;
      auto pair = attention_to(node);
      if (!pair) pair = pair_from(node);
      if (!pair) continue;
      taken.insert(pair->columns.begin(), pair->columns.end());
      taken.insert(pair->rows);
      result.push_back(std::move(*pair));
    }
    return result;
  }

 private:
  [[nodiscard]] bool has_one_reader(const std::string& tensor) const {
    const auto& outputs = network_.graph().outputs;
    return network_.consumers(tensor).size() == 1 &&
           std::ranges::find(outputs, tensor, &onnx::ValueInfo::name) == outputs.end();
  }
  [[nodiscard]] bool is_own_parameter(const std::string& name) const {
    return network_.is_parameter(name) && has_one_reader(name);
  }

  [[nodiscard]] std::optional<Linear> linear(const onnx::Node& node) const {
    const bool is_gemm = is_standard(node, "Gemm");
    if (!is_gemm && !is_standard(node, "MatMul")) return {};
    if (!is_own_parameter(node.inputs[1])) return {};
    const Shape& shape = network_.fetch(node.inputs[1]).shape();
    if (shape.rank() != 2) return {};
    Linear result{.weight = node.inputs[1], .bias = {}};
    if (is_gemm) {
      if (attribute_or<std::int64_t>(node, "transA", 0) != 0) return {};
      if (attribute_or<std::int64_t>(node, "transB", 0) != 0) result.in = 1;
      if (node.inputs.size() > 2) result.bias = node.inputs[2];
    }
    result.units_in = shape[result.in];
    result.units_out = shape[1 - result.in];
    if (!result.bias.empty()) {
      const bool adds = attribute_or<float>(node, "beta", 1) == 1;
      if (!adds || !is_row(result.bias, result.units_out)) return {};
    }
    return result;
  }
  /// A parameter with an element a unit.
  [[nodiscard]] bool is_row(const std::string& name, std::int64_t units) const {
    if (!is_own_parameter(name)) return false;
    const Shape& shape = network_.fetch(name).shape();
    return shape.rank() > 0 && shape[shape.rank() - 1] == units &&
           network_.fetch(name).elements() == units;
  }
  [[nodiscard]] CutParameter row_cut(const std::string& name) const {
    return {name, network_.fetch(name).shape().rank() - 1};
  }

  [[nodiscard]] std::optional<TensorPair> pair_from(std::size_t first) const {
    const auto columns = linear(nodes_[first]);
    if (!columns) return {};
    TensorPair pair{.columns = {first}, .units = columns->units_out};
    cut_columns(*columns, pair);
    std::string tensor = nodes_[first].outputs[0];
    while (has_one_reader(tensor)) {
      const onnx::Node& reader = *network_.consumers(tensor).front();
      const auto rows = linear(reader);
      if (rows && reader.inputs[0] == tensor && rows->units_in == pair.units) {
        pair.rows = place_of(reader);
        pair.cuts.push_back({rows->weight, rows->in});
        return pair;
      }
      if (!goes_through(reader, tensor, pair)) return {};
      tensor = reader.outputs[0];
    }
    return {};
  }

  void cut_columns(const Linear& layer, TensorPair& pair) const {
    pair.cuts.push_back({layer.weight, 1 - layer.in});
    if (!layer.bias.empty()) pair.cuts.push_back(row_cut(layer.bias));
  }

  /// The node of this operator that writes `tensor` for one reader alone; null where there is none.
  [[nodiscard]] const onnx::Node* source(const std::string& tensor,
                                         std::string_view op_type) const {
    const bool is_known = network_.graph().initializers.contains(tensor);
    const onnx::Node* node =
        is_known || !has_one_reader(tensor) ? nullptr : network_.producer(tensor);
    return node && is_standard(*node, op_type) ? node : nullptr;
  }
  [[nodiscard]] bool is_scalar(const std::string& name) const {
    return network_.graph().initializers.contains(name) && !network_.is_parameter(name) &&
           network_.fetch(name).elements() == 1;
  }
  /// Of a Reshape with a constant target of `rank` dimensions; empty for any other.
  [[nodiscard]] std::vector<std::int64_t> target(const onnx::Node* reshape,
                                                 std::size_t rank) const {
    if (!reshape || !network_.graph().initializers.contains(reshape->inputs[1])) return {};
    const Tensor& shape = network_.fetch(reshape->inputs[1]);
    if (shape.elements() != std::int64_t(rank)) return {};
    const auto values = shape.span<std::int64_t>();
    return {values.begin(), values.end()};
  }

  /// softmax(Q K^T s) V with heads in dimension 1, joined, into the linear layer `rows`.
  [[nodiscard]] std::optional<TensorPair> attention_to(std::size_t rows) const {
    const auto output = linear(nodes_[rows]);
    if (!output) return {};
    const onnx::Node* join = source(nodes_[rows].inputs[0], "Reshape");
    const auto joined = target(join, 3);
    if (joined.empty()) return {};
    const onnx::Node* places = source(join->inputs[0], "Transpose");
    const onnx::Node* mean = places ? source(places->inputs[0], "MatMul") : nullptr;
    const onnx::Node* softmax = mean ? source(mean->inputs[0], "Softmax") : nullptr;
    if (!softmax) return {};
    std::string scores = softmax->inputs[0];
    for (const char* op_type : {"Mul", "Div"}) {
      const onnx::Node* scale = source(scores, op_type);
      if (scale && is_scalar(scale->inputs[1])) scores = scale->inputs[0];
    }
    const onnx::Node* product = source(scores, "MatMul");
    if (!product) return {};
    TensorPair pair{.columns = {}, .rows = rows};
    for (const auto& tensor : {product->inputs[0], product->inputs[1], mean->inputs[1]}) {
      if (!in_heads(tensor, *output, pair)) return {};
    }
    pair.cuts.push_back({output->weight, output->in});
    if (joined[2] == output->units_in) {
      pair.shapes.push_back({place_of(*join), 2});
    } else if (joined[2] != -1) {
      return {};
    }
    return pair;
  }

  /// Query, key or value: a linear layer, split into heads.
  [[nodiscard]] bool in_heads(const std::string& tensor, const Linear& output,
                              TensorPair& pair) const {
    const onnx::Node* heads = source(tensor, "Transpose");
    const onnx::Node* split = heads ? source(heads->inputs[0], "Reshape") : nullptr;
    const auto sizes = target(split, 4);
    if (sizes.empty() || sizes[2] < 1 || sizes[2] * sizes[3] != output.units_in) return false;
    if (pair.units != 0 && pair.units != sizes[2]) return false;
    pair.units = sizes[2];
    pair.shapes.push_back({place_of(*split), 2});
    std::string projected = split->inputs[0];
    if (const onnx::Node* add = source(projected, "Add")) {
      const int bias = is_row(add->inputs[0], output.units_in) ? 0 : 1;
      if (!is_row(add->inputs[std::size_t(bias)], output.units_in)) return false;
      pair.cuts.push_back(row_cut(add->inputs[std::size_t(bias)]));
      projected = add->inputs[std::size_t(1 - bias)];
    }
    for (const char* op_type : {"MatMul", "Gemm"}) {
      const onnx::Node* node = source(projected, op_type);
      const auto layer = node ? linear(*node) : std::nullopt;
      if (!layer || layer->units_out != output.units_in) continue;
      pair.columns.push_back(place_of(*node));
      cut_columns(*layer, pair);
      return true;
    }
    return false;
  }

  /// Whether a node computes each element by itself; what it has an element a unit of is cut.
  [[nodiscard]] bool goes_through(const onnx::Node& node, const std::string& tensor,
                                  TensorPair& pair) const {
    static constexpr std::array kOfOne{"Relu", "Gelu",     "Tanh",     "Sigmoid", "LeakyRelu",
                                       "Elu",  "Selu",     "Softplus", "Erf",     "Swish",
                                       "Mish", "Identity", "Celu",     "Softsign"};
    static constexpr std::array kOfTwo{"Add", "Sub", "Mul", "Div"};
    const auto is = [&](const char* op_type) { return is_standard(node, op_type); };
    if (std::ranges::any_of(kOfOne, is)) return true;
    if (std::ranges::none_of(kOfTwo, is)) return false;
    const std::string& other = node.inputs[node.inputs[0] == tensor ? 1 : 0];
    if (is_row(other, pair.units)) {
      pair.cuts.push_back(row_cut(other));
      return true;
    }
    return is_scalar(other);
  }

  [[nodiscard]] std::size_t place_of(const onnx::Node& node) const {
    return std::size_t(&node - nodes_.data());
  }

  const Network& network_;
  const std::vector<onnx::Node>& nodes_;
};

}  // namespace

std::vector<TensorPair> tensor_pairs(const Network& network) { return PairSearch(network).pairs(); }

}  // namespace d5::detail
