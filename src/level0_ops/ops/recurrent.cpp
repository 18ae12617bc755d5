// SPDX-License-Identifier: Apache-2.0
// Recurrent layers over sequences, forward and backward in time: RNN, GRU and LSTM.
#include <string>
#include <vector>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/recurrent/gru_cell.hpp"
#include "level0_ops/kernels/recurrent/recurrent_operator.hpp"
#include "level0_ops/kernels/recurrent/rnn_cell.hpp"

namespace d5::ops {
namespace {

using detail::CellRules;
using Names = std::vector<std::string>;

/// Source: Elman, "Finding Structure in Time" (1990).
struct Rnn {
  using View = onnx::nodes::RNN;
  template <class A>
  using Cell = detail::RnnCell<A>;
  static Names activations() { return {"Tanh"}; }
  static void set(const View&, CellRules&) {}
  /// A sum and an activation.
  static double flop(const InferContext&) { return 1 + 1; }
};

/// Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder" (2014).
struct Gru {
  using View = onnx::nodes::GRU;
  template <class A>
  using Cell = detail::GruCell<A>;
  static Names activations() { return {"Sigmoid", "Tanh"}; }
  static void set(const View& view, CellRules& rules) {
    rules.linear_before_reset = view.linear_before_reset() != 0;
  }
  /// Three sums, three activations, the product with r, and (1 - z) n + z h.
  static double flop(const InferContext&) { return 3 + 3 + 1 + 4; }
};

}  // namespace

void register_recurrent(OperatorRegistry& registry) {
  registry.add<detail::Recurrent<Rnn>, onnx::nodes::RNN>();
  registry.add<detail::Recurrent<Gru>, onnx::nodes::GRU>();
  registry.add<detail::Recurrent<detail::Lstm>, onnx::nodes::LSTM>();
}

}  // namespace d5::ops
