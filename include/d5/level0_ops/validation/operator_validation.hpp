// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/isolation.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/case/operator_case.hpp"

namespace d5 {

/// An element passes within `absolute + relative * |expected|`.
struct ForwardTolerance {
  double relative = 1e-5;  ///< float32: some ulps
  double absolute = 1e-6;
};

/// What is recorded of an output's error.
enum class ErrorDetail {
  largest,  ///< one number: the largest error, relative to the output's largest number
  norms,    ///< `norm_records` besides, of floats
};

struct ForwardOptions {
  std::string reference = "reference";
  bool exact = false;  ///< the reference computes in float64; what it gives is rounded once
  std::optional<ForwardTolerance> tolerance = {};  ///< nothing: what `test_forward` says
  Device device = {};                              ///< of the subject
  Interrupt interrupt = {};                        ///< asked between runs
  ErrorDetail errors = ErrorDetail::largest;
  std::string heatmaps = {};  ///< folder for pictures; empty: none
  Isolation isolation = {};
};

/// Runs the frameworks `subject` and `reference` on the same inputs and compares every output; a
/// case that says what it expects is its own judge, and the reference does not run; nor does it for
/// an operator that draws random numbers, which are held against their distribution.
/// Records the largest absolute and relative error, and passes if every element is within
/// tolerance and the subject wrote nowhere else (`Guard`). On another device than the host, whose
/// memory nobody can watch, the subject runs there without a guard.
///
/// Without a tolerance it is that of float32 for inputs of size 1: a sum of k products rounds k
/// times, by up to 2^-24 of a partial sum of size sqrt(k) each; an absolute 2 k 2^-23 leaves room
/// for the largest of many elements. k is the reference's work for an element of the output. Of an
/// output of float16 or bfloat16 it is at least 4 of that type's spacings, 2^-10 and 2^-7.
///
/// What is expected may say nothing: NaN or infinite in more than half of the elements, empty, one
/// number whatever the inputs are. Then nothing was compared ("compared"), and what agrees is
/// mistrusted (docs/reference/measuring.md, "What says nothing").
///
/// Of each output that differs at all, `heatmaps` gets a picture of where (`heatmap`), which its
/// record names among the artefacts.
///
/// Isolated, an operator that crashes or hangs is a failed record.
/// Throws: Interrupted; IoError for a picture; every other error is a record.
[[nodiscard]] std::vector<Measurement> test_forward(const OperatorCase& op_case,
                                                    const std::string& subject,
                                                    const ForwardOptions& options = {});

struct RepeatabilityOptions {
  enum class Passes { forward, both };
  int runs = 10;
  Passes passes = Passes::both;  ///< of an operator without gradients both is forward
  Device device = {};
  std::string heatmaps = {};  ///< folder for pictures; empty: none
  Interrupt interrupt = {};   ///< asked before each run
  Isolation isolation = {};
};

/// Runs `subject` again and again on the same inputs, and on the same random gradients of its
/// outputs. For each output and each gradient of an input the number of elements that were not the
/// same bits in all runs ("repeatability", which fails above 0), and of floats the largest variance
/// of an element over the runs ("variance_over_runs", "at" where it is). Of each of floats that
/// differs, `heatmaps` gets a picture of the standard deviation of its elements.
/// Throws: ValueError for fewer than two runs; Interrupted; IoError for a picture.
[[nodiscard]] std::vector<Measurement> test_repeatability(const OperatorCase& op_case,
                                                          const std::string& subject,
                                                          const RepeatabilityOptions& options = {});

enum class GradientMode {
  automatic,   ///< full for at most 200 input and 2000 output elements
  full,        ///< every entry of the Jacobian by central differences
  projection,  ///< random vectors: v^T J u against backward
};

struct GradientOptions {
  GradientMode mode = GradientMode::automatic;
  double step = 1e-6;       ///< of the central difference, relative to max(1, |x|)
  double tolerance = 1e-5;  ///< relative to max(1, |numerical|); float64, truncation is O(step^2)
  int projections = 4;
  std::uint64_t seed = 0;
  Interrupt interrupt = {};  ///< asked before each run
  Isolation isolation = {};
};

/// Checks `backward` of a framework's operator against central differences of its own forward, in
/// float64, for every differentiable input; skipped where no output is float64, as of operators
/// that write float32 whatever they read. A framework that lacks float64 is held against the
/// reference's gradients (the condition "mode" is "reference"), within what its type rounds; an
/// operator that a user brought and that lacks it, against differences in the case's own types (the
/// condition "precision").
///
/// Where slopes to either side differ, every slope between those beside the place is right; the
/// condition "kinks" says at how many elements that was so (of the input; of the outputs in
/// projections), "jumps" at how many the value itself differs beside the place. Elements without a
/// number are "undefined places" and not compared; a record that has compared nothing is skipped.
/// Throws: Interrupted; every other error is a record.
[[nodiscard]] std::vector<Measurement> test_gradient(const OperatorCase& op_case,
                                                     const std::string& subject,
                                                     const GradientOptions& options = {});

/// Whether two values agree, and by how much they differ.
struct Difference {
  bool equal = true;
  double largest_absolute = 0;
  double largest_relative = 0;  ///< to the largest expected number of the same tensor
  std::string where;  ///< first element out of tolerance: "output Y[3]: got 1.5, expected 2"
};
/// NaN equals NaN; integers, strings and booleans must agree exactly.
[[nodiscard]] Difference compare_values(const Value& got, const Value& expected,
                                        ForwardTolerance tolerance);

}  // namespace d5
