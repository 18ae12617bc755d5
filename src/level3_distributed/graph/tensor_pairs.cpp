// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/tensor_pairs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>

#include "level3_distributed/graph/linear_layers.hpp"

namespace d5::detail {
namespace {

/// The number of heads of query, key and value, and their total units.
struct Heads {
  std::array<std::int64_t, 3> count = {}, units = {};

  /// Whether they produce the input of `output`. Parts consist of key heads with the query heads
  /// that they serve.
  [[nodiscard]] bool fit(const Linear& output, TensorPair& pair) const {
    for (std::size_t i = 0; i < 3; ++i) {
      if (count[i] < 1 || units[i] < 1 || units[i] % count[i] != 0) return false;
    }
    pair.units = count[1];
    return count[1] == count[2] && count[0] % count[1] == 0 &&
           units[2] / count[2] * count[0] == output.units_in;
  }
};

class AttentionSearch {
 public:
  explicit AttentionSearch(const LinearLayers& layers)
      : layers_(layers), network_(layers.network()) {}

  /// The pair of an attention with joined heads and the linear layer `rows`.
  [[nodiscard]] std::optional<TensorPair> attention_to(std::size_t rows) const {
    const auto output = layers_.linear(layers_.nodes()[rows]);
    if (!output) return {};
    TensorPair pair{.columns = {}, .rows = rows};
    const std::string& input = layers_.nodes()[rows].inputs[0];
    const onnx::Node* packed = layers_.source(input, "Attention");
    if (!(packed ? shares_packed(*packed, *output, pair) : shares_joined(input, *output, pair))) {
      return {};
    }
    pair.cuts.push_back({output->weight, output->in});
    std::ranges::sort(pair.columns);
    if (std::ranges::adjacent_find(pair.columns) != pair.columns.end()) return {};
    return pair;
  }

 private:
  /// Matches an Attention with packed heads: Q, K and V directly from linear layers.
  [[nodiscard]] bool shares_packed(const onnx::Node& attention, const Linear& output,
                                   TensorPair& pair) const {
    if (!is_cut_by_heads(attention)) return false;
    Heads heads;
    for (std::size_t i = 0; i < 3; ++i) {
      const char* name = i == 0 ? "q_num_heads" : "kv_num_heads";
      heads.count[i] = attribute_or<std::int64_t>(attention, name, 0);
      heads.units[i] = cut_projection(attention.inputs[i], pair);
    }
    pair.attention = layers_.place_of(attention);
    return heads.fit(output, pair);
  }

  /// Matches an attention with heads in dimension 1, split before it and joined after it.
  [[nodiscard]] bool shares_joined(const std::string& input, const Linear& output,
                                   TensorPair& pair) const {
    const onnx::Node* join = layers_.source(input, "Reshape");
    const auto joined = target(join, 3);
    const onnx::Node* places =
        joined.empty() ? nullptr : layers_.source(join->inputs[0], "Transpose");
    if (!places) return false;
    const auto read = unpacked_attention(places->inputs[0]);
    if (read.empty()) return false;
    Heads heads;
    for (std::size_t i = 0; i < 3; ++i) {
      const onnx::Node* transposed = layers_.source(read[i], "Transpose");
      const onnx::Node* split =
          transposed ? layers_.source(transposed->inputs[0], "Reshape") : nullptr;
      const auto sizes = target(split, 4);
      if (sizes.empty()) return false;
      heads.count[i] = sizes[2];
      heads.units[i] = cut_projection(split->inputs[0], pair);
      if (sizes[2] * sizes[3] != heads.units[i]) return false;
      pair.shapes.push_back({layers_.place_of(*split), 2});
    }
    if (joined[2] == output.units_in) {
      pair.shapes.push_back({layers_.place_of(*join), 2});
    } else if (joined[2] != -1) {
      return false;
    }
    return heads.fit(output, pair);
  }

  /// Query, key and value of the Attention, or of the softmax(Q K^T s) V, that writes `tensor`;
  /// empty if there is none.
  [[nodiscard]] std::vector<std::string> unpacked_attention(const std::string& tensor) const {
    if (const onnx::Node* node = layers_.source(tensor, "Attention")) {
      if (!is_cut_by_heads(*node)) return {};
      return {node->inputs.begin(), node->inputs.begin() + 3};
    }
    const onnx::Node* mean = layers_.source(tensor, "MatMul");
    const onnx::Node* softmax = mean ? layers_.source(mean->inputs[0], "Softmax") : nullptr;
    if (!softmax) return {};
    std::string scores = softmax->inputs[0];
    for (const char* op_type : {"Mul", "Div"}) {
      const onnx::Node* scale = layers_.source(scores, op_type);
      if (scale && layers_.is_scalar(scale->inputs[1])) scores = scale->inputs[0];
    }
    const onnx::Node* product = layers_.source(scores, "MatMul");
    if (!product) return {};
    return {product->inputs[0], product->inputs[1], mean->inputs[1]};
  }

  /// Whether the heads of an Attention are independent: they share one mask, which is not trained,
  /// there is no cache, and only the result is read.
  [[nodiscard]] bool is_cut_by_heads(const onnx::Node& attention) const {
    const auto& inputs = attention.inputs;
    const auto has = [&](std::size_t i) { return inputs.size() > i && !inputs[i].empty(); };
    if (has(4) || has(5) || (has(3) && !is_for_all_heads(inputs[3]))) return false;
    return std::all_of(attention.outputs.begin() + 1, attention.outputs.end(),
                       [&](const auto& name) { return name.empty() || layers_.is_unread(name); });
  }
  /// Whether a mask ... x heads x queries x keys is an input or a constant that all heads share.
  [[nodiscard]] bool is_for_all_heads(const std::string& mask) const {
    if (network_.is_parameter(mask)) return false;
    if (network_.graph().initializers.contains(mask)) {
      const Shape& shape = network_.fetch(mask).shape();
      return shape.rank() < 3 || shape[shape.rank() - 3] == 1;
    }
    const auto& inputs = network_.graph().inputs;
    const auto input = std::ranges::find(inputs, mask, &onnx::ValueInfo::name);
    if (input == inputs.end() || !input->type.has_shape) return false;
    const auto& dims = input->type.dims;
    return dims.size() < 3 || dims[dims.size() - 3] == onnx::Dim{std::int64_t{1}};
  }

  /// The target of a Reshape, if it is constant with `rank` dimensions; otherwise empty.
  [[nodiscard]] std::vector<std::int64_t> target(const onnx::Node* reshape,
                                                 std::size_t rank) const {
    if (!reshape || !network_.graph().initializers.contains(reshape->inputs[1])) return {};
    const Tensor& shape = network_.fetch(reshape->inputs[1]);
    if (shape.elements() != std::int64_t(rank)) return {};
    const auto values = shape.span<std::int64_t>();
    return {values.begin(), values.end()};
  }

  /// Adds the linear layer and bias that write `tensor` to the cut; returns its units, or 0 if
  /// there is none.
  [[nodiscard]] std::int64_t cut_projection(const std::string& tensor, TensorPair& pair) const {
    const onnx::Node* add = layers_.source(tensor, "Add");
    for (const std::size_t side : {0U, 1U}) {
      const std::string& written = add ? add->inputs[side] : tensor;
      for (const char* op_type : {"MatMul", "Gemm"}) {
        const onnx::Node* node = layers_.source(written, op_type);
        const auto layer = node ? layers_.linear(*node) : std::nullopt;
        if (!layer || (add && !layers_.is_row(add->inputs[1 - side], layer->units_out))) continue;
        pair.columns.push_back(layers_.place_of(*node));
        layers_.cut_columns(*layer, pair);
        if (add) pair.cuts.push_back(layers_.row_cut(add->inputs[1 - side]));
        return layer->units_out;
      }
    }
    return 0;
  }

  const LinearLayers& layers_;
  const Network& network_;
};

/// The attention whose heads end in the linear layer at node `rows`: ONNX's Attention, packed or
/// not, or nodes that compute softmax(Q K^T s) V. nullopt if there is none or it cannot be cut.
std::optional<TensorPair> attention_to(const LinearLayers& layers, std::size_t rows) {
  return AttentionSearch(layers).attention_to(rows);
}

class PairSearch {
 public:
  explicit PairSearch(const Network& network) : network_(network), layers_(network) {}

  [[nodiscard]] std::vector<TensorPair> pairs() {
    std::vector<TensorPair> result;
    std::set<std::size_t> taken;
    for (std::size_t node = 0; node < layers_.nodes().size(); ++node) {
      if (taken.contains(node)) continue;
      auto pair = attention_to(layers_, node);
      if (!pair) pair = pair_from(node);
      if (!pair) continue;
      taken.insert(pair->columns.begin(), pair->columns.end());
      taken.insert(pair->rows);
      result.push_back(std::move(*pair));
    }
    return result;
  }

 private:
  [[nodiscard]] std::optional<TensorPair> pair_from(std::size_t first) const {
    const auto columns = layers_.linear(layers_.nodes()[first]);
    if (!columns) return {};
    TensorPair pair{.columns = {first}, .units = columns->units_out};
    layers_.cut_columns(*columns, pair);
    std::string tensor = layers_.nodes()[first].outputs[0];
    while (layers_.has_one_reader(tensor)) {
      const onnx::Node& reader = *network_.consumers(tensor).front();
      const auto rows = layers_.linear(reader);
      if (rows && reader.inputs[0] == tensor && rows->units_in == pair.units) {
        pair.rows = layers_.place_of(reader);
        pair.cuts.push_back({rows->weight, rows->in});
        return pair;
      }
      if (!goes_through(reader, tensor, pair)) return {};
      tensor = reader.outputs[0];
    }
    return {};
  }

  /// Whether a node is element-wise; its inputs with one element per unit are cut too.
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
    if (layers_.is_row(other, pair.units)) {
      pair.cuts.push_back(layers_.row_cut(other));
      return true;
    }
    return layers_.is_scalar(other);
  }

  const Network& network_;
  LinearLayers layers_;
};

}  // namespace

std::vector<TensorPair> tensor_pairs(const Network& network) { return PairSearch(network).pairs(); }

}  // namespace d5::detail
