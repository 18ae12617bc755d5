// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "gate_activation.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {

enum class RecurrentKind { rnn, gru, lstm };
[[nodiscard]] std::vector<std::string> usual_activations(RecurrentKind kind);

/// RNN, GRU or LSTM as torch functions step by step, for cases in which torch's layers differ:
/// sequences of several lengths, peepholes, a reset gate before the matrix, a clip, other
/// activations.
///
/// Shapes: x S,B,I; w D,G H,I; r D,G H,H; b D,2 G H; states D,B,H; p D,3 H; y S,D,B,H, with D
/// directions and G gates, in ONNX's order. `layout` 1 puts the batch first in all but weights.
class SteppedRecurrent final : public TorchKernel {
 public:
  SteppedRecurrent(const PlanContext& context, RecurrentKind kind);
  void call(Inputs inputs, Results results, const Random&) const override;

 private:
  /// Inputs of the steps of one direction.
  struct Direction {
    at::Tensor w = {}, r = {}, wb = {}, rb = {}, p = {};  ///< without B or P undefined
    const GateActivation* activations = nullptr;
  };
  struct State {
    at::Tensor h = {}, c = {};
  };
  [[nodiscard]] Direction direction(Inputs inputs, std::int64_t d) const;
  [[nodiscard]] State first_state(Inputs inputs, const at::Tensor& x, std::int64_t d) const;
  /// `wx`: W x and its bias, of one step.
  [[nodiscard]] State step(const Direction& own, const at::Tensor& wx, const State& state) const;
  [[nodiscard]] State gru(const Direction& own, const at::Tensor& wx, const State& state) const;
  [[nodiscard]] State lstm(const Direction& own, const at::Tensor& wx, const State& state) const;
  [[nodiscard]] at::Tensor gate(const Direction& own, int k, const at::Tensor& sum) const;
  [[nodiscard]] std::optional<at::Tensor> lengths(Inputs inputs, std::int64_t steps) const;

  RecurrentKind kind_;
  std::int64_t hidden_;
  bool batch_first_, reversed_, linear_before_reset_, couples_;
  std::optional<double> clip_;
  std::vector<GateActivation> activations_;
  /// One tensor per step of a call; kept to reuse its memory.
  mutable std::vector<at::Tensor> shown_;
};

}  // namespace d5::torch
