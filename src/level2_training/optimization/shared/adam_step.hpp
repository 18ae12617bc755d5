// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace d5::detail {

/// Adam's moments of a gradient:
///
///     m <- beta1 * m + (1 - beta1) * g
///     v <- beta2 * v + (1 - beta2) * g^2
template <class T>
struct Moments {
  template <class Options>
  explicit Moments(const Options& options)
      : beta1(T(options.beta1)),
        rest1(T(1 - options.beta1)),
        beta2(T(options.beta2)),
        rest2(T(1 - options.beta2)) {}
  void operator()(T slope, T& m, T& v) const {
    m = beta1 * m + rest1 * slope;
    v = beta2 * v + rest2 * slope * slope;
  }
  T beta1, rest1, beta2, rest2;
};

/// Weight decay that is added to the gradient (L2), or decoupled from it: then it shrinks the
/// parameter.
template <class T>
struct EitherDecay {
  template <class Options>
  explicit EitherDecay(const Options& options)
      : added(T(options.decoupled_weight_decay ? 0 : options.weight_decay)),
        kept(T(options.decoupled_weight_decay ? 1 - options.learning_rate * options.weight_decay
                                              : 1)) {}
  T added, kept;
};

/// Adam's step from its moments, in step t, counted from 1:
///
///     m' = m / (1 - beta1^t)
///     v' = v / (1 - beta2^t)
///     step = learning_rate * m' / (sqrt(v') + epsilon)
///
/// With amsgrad the largest v so far replaces v in the quotient.
///
/// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (ICLR 2015), algorithm 1;
/// amsgrad after Reddi, Kale and Kumar, "On the Convergence of Adam and Beyond" (ICLR 2018), with
/// the corrections of Adam, as LibTorch has it.
template <class T>
struct AdamStep {
  template <class Options>
  AdamStep(const Options& options, std::int64_t step)
      : moments(options),
        rate(T(options.learning_rate / (1 - std::pow(options.beta1, double(step))))),
        root_correction(T(std::sqrt(1 - std::pow(options.beta2, double(step))))),
        epsilon(T(options.epsilon)) {}

  T operator()(T slope, T& m, T& v) const {
    moments(slope, m, v);
    return rate * m / (std::sqrt(v) / root_correction + epsilon);
  }
  T operator()(T slope, T& m, T& v, T& largest, bool amsgrad) const {
    moments(slope, m, v);
    largest = std::max(largest, v);
    return rate * m / (std::sqrt(amsgrad ? largest : v) / root_correction + epsilon);
  }

  Moments<T> moments;
  T rate, root_correction, epsilon;
};

}  // namespace d5::detail
