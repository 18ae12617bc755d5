// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "level0_ops/kernels/recurrent_activation.hpp"

namespace d5::detail {

/// What an LSTM does with one sample in one step, of one direction.
///
///     i, o, f = f(W x + R h + b [+ P c]);  g = g(W x + R h + b);  c' = f c + i g;  h' = o h(c')
///
/// The gates lie in the order i, o, f, g ("iofc"). P ("peepholes") joins i and f with c, o with c'.
///
/// Shapes: `bias` is W's 4H and R's 4H, `peepholes` 3H; c, h and their gradients are H, gates 4H.
template <class T>
struct LstmCell {
  std::int64_t hidden;
  const RecurrentActivation* functions;  ///< f, g, h
  const T *bias, *peepholes;             ///< null: none
  std::optional<float> clip;             ///< of what enters f and g
  bool couples;                          ///< f is 1 - i

  /// `gates` holds W x + R h, and then the activated gates.
  void forward(T* gates, const T* c, T* next_c, T* next_h) const;
  /// For Sigmoid, Tanh, Tanh without clip and coupled gates: from `dh` and `dc` after the step to
  /// `dc` before it and to `dgates`, the gradient of what entered the gates. Adds to `dpeepholes`
  /// unless it is null.
  void backward(const T* gates, const T* c, const T* next_c, const T* dh, T* dc, T* dgates,
                T* dpeepholes) const;
};

extern template struct LstmCell<float>;
extern template struct LstmCell<double>;

}  // namespace d5::detail
