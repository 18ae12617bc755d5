// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level0_ops/kernels/recurrent/recurrent_cell.hpp"

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

}  // namespace d5::detail
