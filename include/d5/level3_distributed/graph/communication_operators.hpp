// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

/// Makes nodes of d5's ONNX domain, "d5", that talk to other ranks known to all networks of the
/// process, and the transform `dsgd` to `transforms()`; operators against `d5/abi.h` may ask for
/// groups of ranks from then on (`d5_node.communicator`). Later calls do nothing.
///
/// | node | output | gradient of its input |
/// | --- | --- | --- |
/// | AllReduce (reduction: sum, maximum, minimum) | reduced over the ranks | of sum: summed |
/// | Broadcast (root) | root's input | summed at root, zero elsewhere |
/// | ReduceScatter | rank r has rows of part r of the sum | gathered |
/// | AllGather | the rows of all ranks | summed and scattered |
/// | Send (to, tag) | an empty tensor | what Receive's output has there |
/// | Receive (from, tag, shape, type) | what was sent | an empty tensor; it is sent back |
/// | AverageGradient, SumGradient | its input | the mean, the sum over the ranks |
/// | SumValue | the sum over the ranks | as it is: of a loss that every rank computes, counted once
/// |
///
/// Attribute `group` (world) names a `communication_group`. They are the adjoints of each other for
/// a loss that is the sum of all ranks'.
///
/// Rows are of dimension 0, which ReduceScatter cuts into equal parts. Gradients go back through a
/// Send if backward begins at its output, and through a Receive if its input, an empty tensor of
/// the message's type, wants a gradient: so one network ends and another begins.
///
/// Nodes run in the order of the graph and go back in the reverse: ranks that share a group run
/// networks whose communication nodes are in one order. Each run calls; a plan computes none of
/// them beforehand. Calls are counted by the group.
///
///     add_communication_operators();
///     onnx::Node node{.op_type = "AllReduce", .domain = "d5", .opset = 1};
///
/// Throws, when compiled or run: NotFound for a group or an attribute that is missing; ShapeError
/// for rows that ranks cannot share; what calls throw.
void add_communication_operators();

}  // namespace d5
