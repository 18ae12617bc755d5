// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM as torch's own layers if these compute the same, otherwise step by step.
#include <ATen/ops/cat.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/rnn_relu.h>
#include <ATen/ops/rnn_tanh.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <string>

#include "d5/onnx/nodes.hpp"
#include "stepped_recurrent.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;
using RecurrentIn = nodes::LSTM::In;  // RNN and GRU have those before initial_c
using Names = std::vector<std::string>;

using Kind = RecurrentKind;

/// Torch's gate order is i, f, g, o and r, z, n; ONNX's i, o, f, g and z, r, n.
std::vector<std::int64_t> gates_of(Kind kind) {
  switch (kind) {
    case Kind::lstm:
      return {0, 2, 3, 1};
    case Kind::gru:
      return {1, 0, 2};
    default:
      return {0};
  }
}

Names names_of(const PlanContext& context) {
  const auto* names = context.node().attribute<Names>("activations");
  return names ? *names : Names();
}

/// Shapes: x S,B,I; w D,G H,I; r D,G H,H; b D,2 G H; states D,B,H; y S,D,B,H, with D directions and
/// G gates. `layout` 1 puts the batch first in all but weights.
class Recurrent final : public TorchKernel {
 public:
  Recurrent(const PlanContext& context, Kind kind)
      : TorchKernel(context),
        kind_(kind),
        gates_(gates_of(kind)),
        hidden_(context.shape(RecurrentIn::R)[2]),
        batch_first_(nodes::LSTM(node()).layout() != 0),
        reversed_(nodes::LSTM(node()).direction() == "reverse"),
        relu_(std::ranges::count(names_of(context), "Relu") > 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor x = batch_first_ ? inputs[RecurrentIn::X].transpose(0, 1) : inputs[RecurrentIn::X];
    if (reversed_) x = x.flip(0);
    const std::int64_t directions = inputs[RecurrentIn::W].size(0);
    Weights weights;
    for (std::int64_t d = 0; d < directions; ++d) append_weights(inputs, d, weights);
    const at::Tensor h = state(inputs, RecurrentIn::initial_h, x, directions);
    const bool biases = given(inputs, RecurrentIn::B).has_value(), both = directions == 2;
    at::Tensor y, last_h, last_c;
    if (kind_ == Kind::lstm) {
      const at::Tensor c = state(inputs, RecurrentIn::initial_c, x, directions);
      std::tie(y, last_h, last_c) =
          at::lstm(x, {h, c}, weights, biases, /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                   both, /*batch_first=*/false);
    } else {
      const auto run = kind_ == Kind::gru ? &gru : relu_ ? &rnn_relu : &rnn_tanh;
      std::tie(y, last_h) = run(x, h, weights, biases, both);
    }
    if (reversed_) y = y.flip(0);
    y = y.unflatten(2, {directions, hidden_});  // S,B,D,H
    results[0] = batch_first_ ? y.transpose(0, 1) : y.transpose(1, 2);
    const at::Tensor* last[] = {&last_h, &last_c};
    for (std::size_t i = 1; i < results.size(); ++i) {
      results[i] = batch_first_ ? last[i - 1]->transpose(0, 1) : *last[i - 1];
    }
  }

 private:
  using Layer = std::tuple<at::Tensor, at::Tensor>;
  using Weights = c10::SmallVector<at::Tensor, 8>;  // four in each direction
  static Layer gru(const at::Tensor& x, const at::Tensor& h, at::TensorList weights, bool biases,
                   bool both) {
    return at::gru(x, h, weights, biases, 1, 0, false, both, false);
  }
  static Layer rnn_relu(const at::Tensor& x, const at::Tensor& h, at::TensorList weights,
                        bool biases, bool both) {
    return at::rnn_relu(x, h, weights, biases, 1, 0, false, both, false);
  }
  static Layer rnn_tanh(const at::Tensor& x, const at::Tensor& h, at::TensorList weights,
                        bool biases, bool both) {
    return at::rnn_tanh(x, h, weights, biases, 1, 0, false, both, false);
  }

  /// Appends the weights of one direction, in torch's order.
  void append_weights(Inputs inputs, std::int64_t d, Weights& weights) const {
    weights.push_back(reordered(inputs[RecurrentIn::W].select(0, d)));
    weights.push_back(reordered(inputs[RecurrentIn::R].select(0, d)));
    const auto bias = given(inputs, RecurrentIn::B);
    if (!bias) return;
    for (const at::Tensor& half : bias->select(0, d).chunk(2)) weights.push_back(reordered(half));
  }
  at::Tensor reordered(const at::Tensor& x) const {
    const auto parts = x.chunk(std::int64_t(gates_.size()));
    c10::SmallVector<at::Tensor, 4> result;
    for (const std::int64_t gate : gates_) result.push_back(parts[std::size_t(gate)]);
    return at::cat(at::TensorList(result));
  }
  at::Tensor state(Inputs inputs, std::size_t i, const at::Tensor& x,
                   std::int64_t directions) const {
    const auto state = given(inputs, i);
    if (!state) return at::zeros({directions, x.size(1), hidden_}, x.options());
    return (batch_first_ ? state->transpose(0, 1) : *state).contiguous();
  }

  Kind kind_;
  std::vector<std::int64_t> gates_;  // ONNX's, in torch's order
  std::int64_t hidden_;
  bool batch_first_, reversed_, relu_;
};

/// Whether torch has a layer for the node.
bool has_layer(const PlanContext& context, Kind kind) {
  for (const char* attribute : {"clip", "activation_alpha", "activation_beta"}) {
    if (context.node().attributes.contains(attribute)) return false;
  }
  if (context.has_input(RecurrentIn::sequence_lens)) return false;
  const Names given = names_of(context);
  Names usual = usual_activations(kind);
  if (kind == Kind::rnn && !given.empty() && given[0] == "Relu") usual = {"Relu"};
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] != usual[i % usual.size()]) return false;
  }
  if (kind == Kind::gru) return nodes::GRU(context.node()).linear_before_reset() != 0;
  if (kind == Kind::rnn) return true;
  return nodes::LSTM(context.node()).input_forget() == 0 && !context.has_input(RecurrentIn::P);
}

template <class View>
void add_recurrent(OperatorRegistry& registry, Kind kind) {
  const auto plan = [kind](PlanContext& context) -> std::unique_ptr<Kernel> {
    try {
      if (has_layer(context, kind)) return std::make_unique<Recurrent>(context, kind);
      return std::make_unique<SteppedRecurrent>(context, kind);
    } catch (...) {
      rethrow(context.who());
    }
  };
  add_plan<View>(registry, plan, computes_some);
}

}  // namespace

void register_recurrent(OperatorRegistry& registry) {
  add_recurrent<nodes::RNN>(registry, Kind::rnn);
  add_recurrent<nodes::GRU>(registry, Kind::gru);
  add_recurrent<nodes::LSTM>(registry, Kind::lstm);
}

}  // namespace d5::torch
