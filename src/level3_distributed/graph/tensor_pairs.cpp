// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/tensor_pairs.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "level3_distributed/graph/attention_pairs.hpp"

namespace d5::detail {
namespace {

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
