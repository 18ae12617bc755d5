// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Tensors that a loss connects.
struct LossEnds {
  std::string output = {};           ///< the network's scores or predictions; empty: its only
                                     ///< output
  std::string target = "label";      ///< input with the targets; added if missing
  DType target_type = DType::int64;  ///< element type of an added input
  /// Dimensions of an added input. Empty: open ones, as many as the output has, or one fewer for
  /// classes (integers).
  std::vector<onnx::Dim> target_dims = {};
  std::string loss = "loss";  ///< the new output, a scalar: the mean over the batch
};

/// Appends ONNX nodes that compute `loss` from `output`; all names in `LossEnds` are resolved.
using LossEntry = Entry<void(Network&, const LossEnds&)>;
/// Registered losses: cross_entropy, mse, bce, and a user's.
[[nodiscard]] Registry<LossEntry>& losses();

/// Appends a loss to a network, so that it can be trained; a network from a file often lacks one.
///
///     Network network = Network::load("net.onnx");
///     append_loss(network, "cross_entropy");
///     auto optimizer = optimizers().at("sgd").make(make_executor(network), "loss");
///
/// Throws: NotFound for an unknown loss, option or output; ValueError if the output is ambiguous or
/// a name is taken; Unsupported if the network's opset lacks an operator that the loss needs.
void append_loss(Network& network, const std::string& name, LossEnds ends = {},
                 const Settings& settings = {});

/// A copy of the network without the output `loss`, and without nodes, constants and inputs that
/// only it uses. A network that consists of the loss alone stays whole.
/// Throws: NotFound for an unknown output.
[[nodiscard]] Network without_loss(const Network& network, const std::string& loss);

}  // namespace d5
