// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/transform.hpp"

namespace d5 {

/// Feeds both executors the same and compares every output. One record an output: the largest
/// error, relative to the output's largest number.
///
/// Without a tolerance an output passes within what rounding can do: `reference` is run in float64
/// as well, and its own errors tell (docs/reference/level1.md, "Right"). Records hold the bound.
/// With one, each element is held against the reference's.
///
/// Where the reference's answers are no numbers, or no input moves them, nothing was compared, and
/// the record is mistrusted (docs/reference/measuring.md, "What says nothing").
///
/// Throws, as all tests here: Interrupted, between two nodes; every other error is a record.
[[nodiscard]] std::vector<Measurement> test_executor(GraphExecutor& subject,
                                                     GraphExecutor& reference,
                                                     const ValueMap& inputs,
                                                     std::optional<ForwardTolerance> tolerance = {},
                                                     const Interrupt& interrupt = {});
/// Besides the outputs, every parameter's gradient: of the scalar output `loss`, or for an empty
/// one of the sum of all outputs times random numbers. Of an executor that has no gradients the
/// outputs alone, and one record that says so.
[[nodiscard]] std::vector<Measurement> test_executor_backprop(
    GraphExecutor& subject, GraphExecutor& reference, const ValueMap& inputs, std::string_view loss,
    std::optional<ForwardTolerance> tolerance = {}, const Interrupt& interrupt = {});

/// Runs an ONNX test folder's data sets and compares with its expected outputs; `transforms` of the
/// network come first. One record an output.
///
/// Without a tolerance it is ONNX's own: what the folder's tolerance.txt says, otherwise a relative
/// 1e-3 and an absolute 1e-7; for bfloat16, whose significand has 8 bits, a relative 2^-6 at least.
/// A network that draws random numbers is run some thousand times with other ones: one record more
/// for each node that draws, of whether its draws have the distribution that its attributes and
/// inputs say, and for each output that follows from them, against the reference on the same draws.
[[nodiscard]] std::vector<Measurement> test_folder(const std::string& path,
                                                   const ExecutorOptions& options,
                                                   std::optional<ForwardTolerance> tolerance = {},
                                                   const Interrupt& interrupt = {},
                                                   const TransformChain& transforms = {});

/// What an ONNX test folder feeds its network: its first data set. Throws: IoError, FormatError for
/// a folder without one.
[[nodiscard]] ValueMap folder_inputs(const std::string& path, const Network& network);

/// Compiles what `test_folder` would run, for the inputs of each data set, and runs nothing.
/// Throws: what opening and compiling throw.
void plan_folder(const std::string& path, const ExecutorOptions& options,
                 const TransformChain& transforms = {});

}  // namespace d5
