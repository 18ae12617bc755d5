// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "level0_ops/kernels/recurrent/recurrent_activation.hpp"

// What a cell of a recurrent operator does with one sample in one step, of one direction. Its gates
// add up "sums", which enter its activations.
namespace d5::detail {

/// What the attributes say of the cell.
struct CellRules {
  std::vector<RecurrentActivation> activations;  ///< of each direction, one after the other
  std::optional<float> clip;                     ///< of the sums
  bool couples = false;                          ///< LSTM's input_forget: the forget gate is 1 - i
  bool linear_before_reset = false;              ///< GRU's
  bool quantizes_state = false;                  ///< R meets states that were quantized to uint8
};

/// What a cell knows of one direction.
template <class A>
struct CellBase {
  const CellRules& rules;
  std::int64_t hidden;
  const RecurrentActivation* functions;
  const A *bias, *peepholes;  ///< null: none

  /// Of activation `k`.
  [[nodiscard]] A value(std::size_t k, A sum) const {
    return functions[k](rules.clip ? std::clamp(sum, A(-*rules.clip), A(*rules.clip)) : sum);
  }
  [[nodiscard]] A slope(std::size_t k, A sum) const {
    return rules.clip && std::abs(sum) > A(*rules.clip) ? A(0) : functions[k].slope(sum);
  }
  /// Element `i` of the biases, which are W's and then R's.
  [[nodiscard]] A bias_of(std::int64_t i) const { return bias ? bias[i] : A(0); }
};

/// Shapes: the states and `extra` are H, the others GH.
template <class A>
struct CellStep {
  A* sums;             ///< W x at first; forward makes them complete
  const A* recurrent;  ///< R h; backward has none
  const A *h, *c;      ///< before the step; c is LSTM's
  A *next_h, *next_c;
  A* extra;  ///< GRU's, kept for backward
};

template <class A>
struct CellGradients {
  A *h, *c;  ///< of the states after the step; the cell makes them those before, without R's part
  A* sums;   ///< of W x
  A* recurrent;  ///< of R h
};

}  // namespace d5::detail
