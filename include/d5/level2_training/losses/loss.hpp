// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// The tensors that a loss stands between.
struct LossEnds {
  std::string output = {};           ///< of the network: scores or predictions; empty: its only one
  std::string target = "label";      ///< the input that they are compared with, made where none is
  DType target_type = DType::int64;  ///< of an input that is made
  /// Of an input that is made; none: open ones, as many as the output has, and one less for classes
  /// (integers).
  std::vector<onnx::Dim> target_dims = {};
  std::string loss = "loss";  ///< the new output, a scalar: a mean over the batch
};

/// Puts nodes of ONNX behind `output` that write `loss`; both ends are known to the network.
using LossEntry = Entry<void(Network&, const LossEnds&)>;
/// cross_entropy, mse, bce, and a user's.
[[nodiscard]] Registry<LossEntry>& losses();

/// Ends a network in a loss, so that it can be trained: one that a file holds has scores alone.
///
///     Network network = Network::load("net.onnx");
///     append_loss(network, "cross_entropy");
///     auto optimizer = optimizers().at("sgd").make(make_executor(network), "loss");
///
/// Throws: NotFound for an unknown loss, option or output; ValueError where the output has to be
/// chosen or a name is taken; Unsupported for a network of an opset that lacks what the loss needs.
void append_loss(Network& network, const std::string& name, LossEnds ends = {},
                 const Settings& settings = {});

/// A copy of the network without that output: the nodes, constants and inputs go that served it
/// alone. A network that is nothing but the loss stays whole.
/// Throws: NotFound for an output that it does not have.
[[nodiscard]] Network without_loss(const Network& network, const std::string& loss);

}  // namespace d5
