// SPDX-License-Identifier: Apache-2.0
// Recurrent layers RNN, GRU and LSTM, forward and backward in time.
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/recurrent/recurrent_cell.hpp"
#include "level0_ops/kernels/recurrent/recurrent_operator.hpp"

namespace d5::detail {

///     h' = f(W x + R h + b)
template <class A>
struct RnnCell : CellBase<A> {
  static constexpr std::int64_t kGates = 1;
  static constexpr bool kRemembers = false, kResets = false;

  void forward(const CellStep<A>& step) const {
    for (std::int64_t j = 0; j < this->hidden; ++j) {
      step.sums[j] += step.recurrent[j] + this->bias_of(j) + this->bias_of(this->hidden + j);
      step.next_h[j] = this->value(0, step.sums[j]);
    }
  }

  void backward(const CellStep<A>& step, const CellGradients<A>& d) const {
    for (std::int64_t j = 0; j < this->hidden; ++j) {
      d.sums[j] = d.recurrent[j] = d.h[j] * this->slope(0, step.sums[j]);
      d.h[j] = 0;
    }
  }
};

///     z, r = f(W x + R h + b);  h' = (1 - z) n + z h
///     n = g(W x + R (r h) + b), or, "linear before reset", g(W x + bw + r (R h + br))
///
/// The gates are in the order z, r, n. `extra` is the result or the operand of the reset gate: r h,
/// or R h + br.
template <class A>
struct GruCell : CellBase<A> {
  static constexpr std::int64_t kGates = 3;
  static constexpr bool kRemembers = false, kResets = true;

  /// Called before `forward`, with z's and r's part of `recurrent`; r h is then multiplied by R.
  /// With linear before reset, n's part exists already.
  void reset(const CellStep<A>& step) const {
    const std::int64_t size = this->hidden;
    for (std::int64_t j = 0; j < 2 * size; ++j) {
      step.sums[j] += step.recurrent[j] + this->bias_of(j) + this->bias_of(3 * size + j);
    }
    for (std::int64_t j = 0; j < size; ++j) {
      step.extra[j] = this->rules.linear_before_reset
                          ? step.recurrent[2 * size + j] + this->bias_of(5 * size + j)
                          : this->value(0, step.sums[size + j]) * step.h[j];
    }
  }

  void forward(const CellStep<A>& step) const {
    const std::int64_t size = this->hidden;
    for (std::int64_t j = 0; j < size; ++j) {
      const A through_r = this->rules.linear_before_reset
                              ? this->value(0, step.sums[size + j]) * step.extra[j]
                              : step.recurrent[2 * size + j] + this->bias_of(5 * size + j);
      step.sums[2 * size + j] += through_r + this->bias_of(2 * size + j);
      const A z = this->value(0, step.sums[j]);
      step.next_h[j] = (A(1) - z) * this->value(1, step.sums[2 * size + j]) + z * step.h[j];
    }
  }

  /// All gradients except the reset gate's.
  void backward(const CellStep<A>& step, const CellGradients<A>& d) const {
    const std::int64_t size = this->hidden;
    for (std::int64_t j = 0; j < size; ++j) {
      const A z = this->value(0, step.sums[j]), n = this->value(1, step.sums[2 * size + j]);
      d.sums[j] = d.recurrent[j] = d.h[j] * (step.h[j] - n) * this->slope(0, step.sums[j]);
      const A dn = d.h[j] * (A(1) - z) * this->slope(1, step.sums[2 * size + j]);
      d.sums[2 * size + j] = d.recurrent[2 * size + j] = dn;
      d.h[j] *= z;
    }
  }

  /// Called after `backward`. `through_r` is the gradient of r h, unused with linear before reset.
  void reset_back(const CellStep<A>& step, const CellGradients<A>& d, const A* through_r) const {
    const std::int64_t size = this->hidden;
    for (std::int64_t j = 0; j < size; ++j) {
      const A r = this->value(0, step.sums[size + j]);
      A dr;
      if (this->rules.linear_before_reset) {
        dr = d.sums[2 * size + j] * step.extra[j];
        d.recurrent[2 * size + j] *= r;
      } else {
        dr = through_r[j] * step.h[j];
        d.h[j] += through_r[j] * r;
      }
      d.sums[size + j] = d.recurrent[size + j] = dr * this->slope(0, step.sums[size + j]);
    }
  }
};

}  // namespace d5::detail

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
