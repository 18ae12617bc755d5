// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memory_desc.hpp"

namespace d5::onednn {

/// Inputs and outputs of a layer of cells, in oneDNN's dimensions; a zero descriptor means none. L
/// is 1, D directions, G gates, T steps, N samples, I inputs, H hidden values.
struct CellDescs {
  Desc x;             ///< T,N,I
  Desc h, c;          ///< L,D,N,H: states before the first step; c of LSTM alone
  Desc w, r;          ///< L,D,I,G,H and L,D,H,G,H
  Desc b;             ///< L,D,G,H; of GRUs that reset behind the product G is 4
  Desc y;             ///< T,N,D H
  Desc h_end, c_end;  ///< L,D,N,H
};

/// Kind of cell, and its direction over the steps.
struct Cell {
  enum class Kind { rnn, gru, gru_reset_behind, lstm };
  Kind kind;
  dnnl_alg_kind_t activation = dnnl_alg_kind_undef;  ///< for `rnn`
  dnnl_rnn_direction_t direction = dnnl_unidirectional_left2right;

  [[nodiscard]] std::int64_t gates() const;
  [[nodiscard]] std::int64_t biases() const;

  /// Throws: dnnl::error.
  [[nodiscard]] dnnl::primitive_desc_base forward(dnnl_prop_kind_t prop_kind,
                                                  const CellDescs& descs) const;
  /// Gradients have the descriptors of their values.
  [[nodiscard]] dnnl::primitive_desc_base backward(const CellDescs& descs,
                                                   const dnnl::primitive_desc_base& forward) const;
};

}  // namespace d5::onednn
