// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

/// Registers the communication operators of d5's ONNX domain, "d5", for all networks of the
/// process, and the transform `dsgd`. From then on operators built against `d5/abi.h` may use
/// groups of ranks (`d5_node.communicator`). Later calls do nothing.
///
/// | node | output | gradient of its input |
/// | --- | --- | --- |
/// | AllReduce (reduction: sum, maximum, minimum) | reduction over the ranks | of sum: summed |
/// | Broadcast (root) | root's input | summed at root, zero elsewhere |
/// | ReduceScatter | on rank r the rows of part r of the sum | gathered |
/// | AllGather | the rows of all ranks | summed and scattered |
/// | Send (to, tag) | an empty tensor | the gradient of Receive's output |
/// | Receive (from, tag, shape, type) | the message | an empty tensor; the gradient is sent back |
/// | AverageGradient, SumGradient | its input | the mean, the sum over the ranks |
/// | SumValue (of a loss that every rank computes) | the sum over the ranks | passed unchanged |
///
/// Attribute `group` (default: world) names a `communication_group`. Forward and backward are
/// adjoint for a loss that is the sum of all ranks' losses.
///
/// Rows run along dimension 0, which ReduceScatter cuts into equal parts. A Send passes gradients
/// back if backward begins at its output; a Receive does if its input, an empty tensor of the
/// message's type, needs a gradient. So one network can end and another begin.
///
/// Nodes run forward in graph order and backward in reverse. Ranks that share a group must run
/// networks with the same order of communication nodes. Every run communicates: these nodes are
/// never folded as constants. The group counts the calls.
///
///     add_communication_operators();
///     onnx::Node node{.op_type = "AllReduce", .domain = "d5", .opset = 1};
///
/// Throws, when compiled or run: NotFound for a missing group or attribute; ShapeError for rows
/// that do not divide among the ranks; exceptions of the calls.
void add_communication_operators();

}  // namespace d5
