// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "level0_ops/kernels/recurrent/recurrent_activation.hpp"

// Cells of recurrent operators: one step of one sample in one direction. The "sums" of the gates
// are the arguments of their activations.
namespace d5::detail {

/// The cell's attributes.
struct CellRules {
  std::vector<RecurrentActivation> activations;  ///< per direction
  std::optional<float> clip;                     ///< limit of the sums
  bool couples = false;                          ///< LSTM's input_forget: the forget gate is 1 - i
  bool linear_before_reset = false;              ///< GRU's
  bool quantizes_state = false;                  ///< R is multiplied by states quantized to uint8
};

/// A cell's parameters of one direction.
template <class A>
struct CellBase {
  const CellRules& rules;
  std::int64_t hidden;
  const RecurrentActivation* functions;
  const A *bias, *peepholes;  ///< null: none

  /// The value of activation `k`.
  [[nodiscard]] A value(std::size_t k, A sum) const {
    return functions[k](rules.clip ? std::clamp(sum, A(-*rules.clip), A(*rules.clip)) : sum);
  }
  [[nodiscard]] A slope(std::size_t k, A sum) const {
    return rules.clip && std::abs(sum) > A(*rules.clip) ? A(0) : functions[k].slope(sum);
  }
  /// Element `i` of the biases: W's, then R's.
  [[nodiscard]] A bias_of(std::int64_t i) const { return bias ? bias[i] : A(0); }
};

/// Shapes: the states and `extra` are H, the others GH.
template <class A>
struct CellStep {
  A* sums;             ///< W x; completed by forward
  const A* recurrent;  ///< R h; null in backward
  const A *h, *c;      ///< states before the step; c for LSTM only
  A *next_h, *next_c;
  A* extra;  ///< GRU's, saved for backward
};

template <class A>
struct CellGradients {
  A *h, *c;      ///< gradients of the states after the step; the cell updates them to those before,
                 ///< without R's part
  A* sums;       ///< gradient of W x
  A* recurrent;  ///< gradient of R h
};

}  // namespace d5::detail
