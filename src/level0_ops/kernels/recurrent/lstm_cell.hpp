// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level0_ops/kernels/recurrent/recurrent_cell.hpp"

namespace d5::detail {

///     i, o, f = f(W x + R h + b [+ P c]);  g = g(W x + R h + b);  c' = f c + i g;  h' = o h(c')
///
/// The gates lie in the order i, o, f, g ("iofc"). P ("peepholes") joins i and f with c, o with c'.
template <class A>
struct LstmCell : CellBase<A> {
  static constexpr std::int64_t kGates = 4;
  static constexpr bool kRemembers = true, kResets = false;

  void forward(const CellStep<A>& step) const {
    const std::int64_t size = this->hidden;
    const A* p = this->peepholes;
    A* sums = step.sums;
    for (std::int64_t j = 0; j < 4 * size; ++j) {
      sums[j] += step.recurrent[j] + this->bias_of(j) + this->bias_of(4 * size + j);
    }
    for (std::int64_t j = 0; j < size; ++j) {
      const A c = step.c[j];
      if (p) sums[j] += p[j] * c;
      if (p) sums[2 * size + j] += p[2 * size + j] * c;
      const A i = this->value(0, sums[j]);
      step.next_c[j] = forget(i, sums[2 * size + j]) * c + i * this->value(1, sums[3 * size + j]);
      if (p) sums[size + j] += p[size + j] * step.next_c[j];
      step.next_h[j] = this->value(0, sums[size + j]) * this->functions[2](step.next_c[j]);
    }
  }

  void backward(const CellStep<A>& step, const CellGradients<A>& d) const {
    const std::int64_t size = this->hidden;
    const A *p = this->peepholes, *sums = step.sums;
    for (std::int64_t j = 0; j < size; ++j) {
      const A i = this->value(0, sums[j]), o = this->value(0, sums[size + j]);
      const A f = forget(i, sums[2 * size + j]), g = this->value(1, sums[3 * size + j]);
      const A c = step.c[j], next_c = step.next_c[j];
      const A d_o = d.h[j] * this->functions[2](next_c) * this->slope(0, sums[size + j]);
      A d_c = d.c[j] + d.h[j] * o * this->functions[2].slope(next_c);
      if (p) d_c += d_o * p[size + j];
      const bool couples = this->rules.couples;
      const A d_i = d_c * (couples ? g - c : g) * this->slope(0, sums[j]);
      const A d_f = couples ? A(0) : d_c * c * this->slope(0, sums[2 * size + j]);
      d.h[j] = 0;
      d.c[j] = d_c * f;
      if (p) d.c[j] += d_i * p[j] + d_f * p[2 * size + j];
      d.sums[j] = d_i;
      d.sums[size + j] = d_o;
      d.sums[2 * size + j] = d_f;
      d.sums[3 * size + j] = d_c * i * this->slope(1, sums[3 * size + j]);
    }
    std::copy_n(d.sums, 4 * size, d.recurrent);
  }

  /// Adds one step's part of the gradient of P: of `gates`, the gradients of the sums, and of the
  /// states that P meets.
  void add_peepholes(const A* gates, const A* c, const A* next_c, A* d) const {
    const std::int64_t size = this->hidden;
    for (std::int64_t j = 0; j < size; ++j) {
      d[j] += gates[j] * c[j];
      d[size + j] += gates[size + j] * next_c[j];
      d[2 * size + j] += gates[2 * size + j] * c[j];
    }
  }

 private:
  [[nodiscard]] A forget(A i, A sum) const {
    return this->rules.couples ? A(1) - i : this->value(0, sum);
  }
};

}  // namespace d5::detail
