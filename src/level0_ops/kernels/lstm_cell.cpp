// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/lstm_cell.hpp"

#include <algorithm>
#include <cmath>

namespace d5::detail {

template <class T>
void LstmCell<T>::forward(T* gates, const T* c, T* next_c, T* next_h) const {
  const std::int64_t h = hidden;
  const T* p = peepholes;
  const RecurrentActivation* f = functions;
  const auto input_of = [&](std::int64_t j, T more) {
    const T sum = gates[j] + (bias ? bias[j] + bias[4 * h + j] : T(0)) + more;
    return clip ? std::clamp(sum, T(-*clip), T(*clip)) : sum;
  };
  for (std::int64_t j = 0; j < h; ++j) {
    const T i = f[0](input_of(j, p ? p[j] * c[j] : T(0)));
    const T forget = couples ? T(1) - i : f[0](input_of(2 * h + j, p ? p[2 * h + j] * c[j] : T(0)));
    const T g = f[1](input_of(3 * h + j, T(0)));
    next_c[j] = forget * c[j] + i * g;
    const T o = f[0](input_of(h + j, p ? p[h + j] * next_c[j] : T(0)));
    next_h[j] = o * f[2](next_c[j]);
    gates[j] = i;
    gates[h + j] = o;
    gates[2 * h + j] = forget;
    gates[3 * h + j] = g;
  }
}

template <class T>
void LstmCell<T>::backward(const T* gates, const T* c, const T* next_c, const T* dh, T* dc,
                           T* dgates, T* dpeepholes) const {
  const std::int64_t h = hidden;
  const T* p = peepholes;
  T* dp = dpeepholes;
  for (std::int64_t j = 0; j < h; ++j) {
    const T i = gates[j], o = gates[h + j], f = gates[2 * h + j], g = gates[3 * h + j];
    const T squashed = std::tanh(next_c[j]);
    const T d_o = dh[j] * squashed * o * (T(1) - o);
    T d_c = dc[j] + dh[j] * o * (T(1) - squashed * squashed);
    if (p) d_c += d_o * p[h + j];
    const T d_i = d_c * g * i * (T(1) - i);
    const T d_f = d_c * c[j] * f * (T(1) - f);
    dc[j] = d_c * f;
    if (p) dc[j] += d_i * p[j] + d_f * p[2 * h + j];
    if (dp) {
      dp[j] += d_i * c[j];
      dp[h + j] += d_o * next_c[j];
      dp[2 * h + j] += d_f * c[j];
    }
    dgates[j] = d_i;
    dgates[h + j] = d_o;
    dgates[2 * h + j] = d_f;
    dgates[3 * h + j] = d_c * i * (T(1) - g * g);
  }
}

template struct LstmCell<float>;
template struct LstmCell<double>;

}  // namespace d5::detail
