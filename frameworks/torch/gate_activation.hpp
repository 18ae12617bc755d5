// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "d5/onnx/model.hpp"

namespace d5::torch {

/// An activation function named in the attributes of RNN, GRU or LSTM.
struct GateActivation {
  at::Tensor (*function)(const at::Tensor& x, double alpha, double beta);
  double alpha = 0, beta = 0;

  at::Tensor operator()(const at::Tensor& x) const { return function(x, alpha, beta); }
};

/// Activations of all directions of `node`, or `usual` if it names none. Alphas and betas are
/// assigned in order to the functions that take them. All names must be known.
[[nodiscard]] std::vector<GateActivation> gate_activations(const onnx::Node& node,
                                                           const std::vector<std::string>& usual);

}  // namespace d5::torch
