// SPDX-License-Identifier: Apache-2.0
#include "stepped_recurrent.hpp"

#include <ATen/ops/clamp.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;
using RecurrentIn = nodes::LSTM::In;  // RNN and GRU have those before initial_c

std::optional<at::Tensor> bias(const at::Tensor& bias) {
  return bias.defined() ? std::optional(bias) : std::nullopt;
}

}  // namespace

std::vector<std::string> usual_activations(RecurrentKind kind) {
  if (kind == RecurrentKind::rnn) return {"Tanh"};
  if (kind == RecurrentKind::gru) return {"Sigmoid", "Tanh"};
  return {"Sigmoid", "Tanh", "Tanh"};
}

SteppedRecurrent::SteppedRecurrent(const PlanContext& context, RecurrentKind kind)
    : TorchKernel(context),
      kind_(kind),
      hidden_(context.shape(RecurrentIn::R)[2]),
      batch_first_(nodes::LSTM(node()).layout() != 0),
      reversed_(nodes::LSTM(node()).direction() == "reverse"),
      linear_before_reset_(kind == RecurrentKind::gru &&
                           nodes::GRU(node()).linear_before_reset() != 0),
      couples_(kind == RecurrentKind::lstm && nodes::LSTM(node()).input_forget() != 0),
      clip_(nodes::LSTM(node()).clip()),
      activations_(gate_activations(node(), usual_activations(kind))) {}

void SteppedRecurrent::call(Inputs inputs, Results results, const Random&) const {
  const at::Tensor x =
      batch_first_ ? inputs[RecurrentIn::X].transpose(0, 1) : inputs[RecurrentIn::X];
  const std::int64_t steps = x.size(0), directions = inputs[RecurrentIn::W].size(0);
  const auto until = lengths(inputs, steps);
  c10::SmallVector<at::Tensor, 2> ys, last_h, last_c;
  shown_.resize(static_cast<std::size_t>(steps));
  for (std::int64_t d = 0; d < directions; ++d) {
    const Direction own = direction(inputs, d);
    State state = first_state(inputs, x, d);
    const at::Tensor wx = at::linear(x, own.w, bias(own.wb));
    for (std::int64_t s = 0; s < steps; ++s) {
      const std::int64_t t = reversed_ || d == 1 ? steps - 1 - s : s;
      State next = step(own, wx[t], state);
      at::Tensor shown = next.h;
      if (until) {  // a sequence that is over, or has not begun from its end, keeps its state
        const at::Tensor runs = *until > t;
        shown = at::where(runs, next.h, at::Scalar(0));
        next.h = at::where(runs, next.h, state.h);
        if (next.c.defined()) next.c = at::where(runs, next.c, state.c);
      }
      shown_[std::size_t(t)] = shown;
      state = std::move(next);
    }
    ys.push_back(steps > 0 ? at::stack(shown_) : at::zeros({0, x.size(1), hidden_}, x.options()));
    last_h.push_back(state.h);
    last_c.push_back(state.c);
  }
  std::ranges::for_each(shown_, [](at::Tensor& shown) { shown.reset(); });
  results[0] = batch_first_ ? at::stack(ys, 2).transpose(0, 1) : at::stack(ys, 1);
  const std::int64_t place = batch_first_ ? 1 : 0;
  if (results.size() > 1) results[1] = at::stack(last_h, place);
  if (results.size() > 2) results[2] = at::stack(last_c, place);
}

SteppedRecurrent::Direction SteppedRecurrent::direction(Inputs inputs, std::int64_t d) const {
  const std::size_t count = activations_.size() / std::size_t(inputs[RecurrentIn::W].size(0));
  Direction own{.w = inputs[RecurrentIn::W][d],
                .r = inputs[RecurrentIn::R][d],
                .activations = &activations_[std::size_t(d) * count]};
  if (const auto b = given(inputs, RecurrentIn::B)) {
    const auto halves = (*b)[d].chunk(2);
    own.wb = halves[0];
    own.rb = halves[1];
  }
  if (kind_ == RecurrentKind::lstm) {
    if (const auto p = given(inputs, RecurrentIn::P)) own.p = (*p)[d];
  }
  return own;
}

SteppedRecurrent::State SteppedRecurrent::first_state(Inputs inputs, const at::Tensor& x,
                                                      std::int64_t d) const {
  const auto of = [&](std::size_t i) {
    const auto state = given(inputs, i);
    if (!state) return at::zeros({x.size(1), hidden_}, x.options());
    return state->select(batch_first_ ? 1 : 0, d);
  };
  State state{.h = of(RecurrentIn::initial_h)};
  if (kind_ == RecurrentKind::lstm) state.c = of(RecurrentIn::initial_c);
  return state;
}

SteppedRecurrent::State SteppedRecurrent::step(const Direction& own, const at::Tensor& wx,
                                               const State& state) const {
  if (kind_ == RecurrentKind::gru) return gru(own, wx, state);
  if (kind_ == RecurrentKind::lstm) return lstm(own, wx, state);
  return {.h = gate(own, 0, wx + at::linear(state.h, own.r, bias(own.rb)))};
}

/// z, r, n: h' = (1 - z) n + z h, where n uses r h, or r times the linear map of h.
SteppedRecurrent::State SteppedRecurrent::gru(const Direction& own, const at::Tensor& wx,
                                              const State& state) const {
  const std::int64_t two = 2 * hidden_, all = 3 * hidden_;
  const auto through = [&](const at::Tensor& h, std::int64_t begin, std::int64_t end) {
    return at::linear(h, own.r.slice(0, begin, end),
                      own.rb.defined() ? std::optional(own.rb.slice(0, begin, end)) : std::nullopt);
  };
  const auto zr = gate(own, 0, wx.slice(1, 0, two) + through(state.h, 0, two)).chunk(2, 1);
  const at::Tensor of_h = linear_before_reset_ ? zr[1] * through(state.h, two, all)
                                               : through(zr[1] * state.h, two, all);
  const at::Tensor n = gate(own, 1, wx.slice(1, two, all) + of_h);
  return {.h = (1 - zr[0]) * n + zr[0] * state.h};
}

/// i, o, f, g: c' = f c + i g; h' = o h(c'). P joins i and f with c, o with c'.
SteppedRecurrent::State SteppedRecurrent::lstm(const Direction& own, const at::Tensor& wx,
                                               const State& state) const {
  const auto sums = (wx + at::linear(state.h, own.r, bias(own.rb))).chunk(4, 1);
  const auto p = own.p.defined() ? own.p.chunk(3) : std::vector<at::Tensor>();
  const auto peeped = [&](int k, const at::Tensor& c) {
    return p.empty() ? sums[std::size_t(k)] : sums[std::size_t(k)] + p[std::size_t(k)] * c;
  };
  const at::Tensor i = gate(own, 0, peeped(0, state.c));
  const at::Tensor f = couples_ ? 1 - i : gate(own, 0, peeped(2, state.c));
  const at::Tensor c = f * state.c + i * gate(own, 1, sums[3]);
  return {.h = gate(own, 0, peeped(1, c)) * own.activations[2](c), .c = c};
}

at::Tensor SteppedRecurrent::gate(const Direction& own, int k, const at::Tensor& sum) const {
  return own.activations[k](clip_ ? at::clamp(sum, -*clip_, *clip_) : sum);
}

/// Shapes: B,1.
std::optional<at::Tensor> SteppedRecurrent::lengths(Inputs inputs, std::int64_t steps) const {
  const auto given_lengths = given(inputs, RecurrentIn::sequence_lens);
  if (!given_lengths) return std::nullopt;
  if (((*given_lengths < 0) | (*given_lengths > steps)).any().item<bool>()) {
    throw ValueError(onnx::describe(node()) + ": a sequence's length is outside [0, " +
                     std::to_string(steps) + "]");
  }
  return given_lengths->unsqueeze(1);
}

}  // namespace d5::torch
