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

/// Runs both executors on the same inputs and compares every output. One record per output: the
/// largest error, relative to the output's largest number.
///
/// Without a tolerance, the bound is what rounding can cause: `reference` runs in float64 as well,
/// and its own errors set the bound (docs/reference/level1.md, "Right"), which records hold. With a
/// tolerance, each element is compared with the reference's.
///
/// If the reference's outputs are NaN or infinite, or do not depend on any input, nothing was
/// compared and the record is mistrusted (docs/reference/measuring.md, "What says nothing").
///
/// Throws, as all tests here: Interrupted, between two nodes; every other error becomes a record.
[[nodiscard]] std::vector<Measurement> test_executor(GraphExecutor& subject,
                                                     GraphExecutor& reference,
                                                     const ValueMap& inputs,
                                                     std::optional<ForwardTolerance> tolerance = {},
                                                     const Interrupt& interrupt = {});
/// Compares outputs and every parameter's gradient: of the scalar output `loss`, or if that is
/// empty, of the sum of all outputs times random numbers. For an executor without gradients only
/// the outputs are compared, and one record gives the reason.
[[nodiscard]] std::vector<Measurement> test_executor_backprop(
    GraphExecutor& subject, GraphExecutor& reference, const ValueMap& inputs, std::string_view loss,
    std::optional<ForwardTolerance> tolerance = {}, const Interrupt& interrupt = {});

/// Runs an ONNX test folder's data sets and compares with the expected outputs; `transforms` are
/// applied to the network first. One record per output.
///
/// Without a tolerance, ONNX's own applies: the one in the folder's tolerance.txt, otherwise 1e-3
/// relative and 1e-7 absolute; for bfloat16, with its 8-bit significand, at least 2^-6 relative. A
/// network that draws random numbers is run some thousand times with different ones. It has one
/// more record for each node that draws, on whether the draws follow the distribution that the
/// node's attributes and inputs give, and one for each dependent output, compared with the
/// reference on the same draws.
[[nodiscard]] std::vector<Measurement> test_folder(const std::string& path,
                                                   const ExecutorOptions& options,
                                                   std::optional<ForwardTolerance> tolerance = {},
                                                   const Interrupt& interrupt = {},
                                                   const TransformChain& transforms = {});

/// Inputs of an ONNX test folder: its first data set. Throws: IoError; FormatError for a folder
/// without one.
[[nodiscard]] ValueMap folder_inputs(const std::string& path, const Network& network);

/// Compiles what `test_folder` would run, for the inputs of each data set, without running it.
/// Throws: what opening and compiling throw.
void plan_folder(const std::string& path, const ExecutorOptions& options,
                 const TransformChain& transforms = {});

}  // namespace d5
