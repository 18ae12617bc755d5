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

/// Recorded errors of an output.
enum class ErrorDetail {
  largest,  ///< the largest error, relative to the output's largest number
  norms,    ///< also `norm_records`, for floats
};

struct ForwardOptions {
  std::string reference = "reference";
  bool exact = false;  ///< the reference computes in float64, and rounds its result once
  std::optional<ForwardTolerance> tolerance = {};  ///< nothing: the default of `test_forward`
  Device device = {};                              ///< the subject's device
  Interrupt interrupt = {};                        ///< polled between runs
  ErrorDetail errors = ErrorDetail::largest;
  std::string heatmaps = {};  ///< folder for pictures; empty: none
  Isolation isolation = {};
};

/// Runs the frameworks `subject` and `reference` on the same inputs and compares every output. A
/// case with expected outputs is compared with these instead. The outputs of a random operator are
/// tested against their distribution. Records the largest absolute and relative error. Passes if
/// every element is within tolerance and the subject wrote only to its own memory (`Guard`). There
/// is no guard on devices other than the host.
///
/// The default tolerance is that of float32 for inputs of size 1: a sum of k products rounds k
/// times, each by up to 2^-24 of a partial sum of size sqrt(k); an absolute 2 k 2^-23 leaves room
/// for the largest of many elements. k is the reference's work per output element. For float16 and
/// bfloat16 outputs, it is at least 4 spacings of the type, 2^-10 and 2^-7.
///
/// Expected outputs may carry no information: NaN or infinite in more than half of the elements,
/// empty, or constant for all inputs. Then the condition "compared" says so, and agreement is
/// mistrusted (docs/reference/measuring.md, "What says nothing").
///
/// For each output that differs at all, a picture of the difference (`heatmap`) is written to
/// `heatmaps`, and listed in the record's artefacts.
///
/// With isolation, an operator that crashes or hangs is a failed record.
/// Throws: Interrupted; IoError for a picture; every other error is a record.
[[nodiscard]] std::vector<Measurement> test_forward(const OperatorCase& op_case,
                                                    const std::string& subject,
                                                    const ForwardOptions& options = {});

struct RepeatabilityOptions {
  enum class Passes { forward, both };
  int runs = 10;
  Passes passes = Passes::both;  ///< an operator without gradients runs forward only
  Device device = {};
  std::string heatmaps = {};  ///< folder for pictures; empty: none
  Interrupt interrupt = {};   ///< polled before each run
  Isolation isolation = {};
};

/// Runs `subject` repeatedly on the same inputs, and on the same random output gradients. For each
/// output and input gradient, records the number of elements whose bits were not equal in all runs
/// ("repeatability", which fails above 0); for floats also the largest variance of an element over
/// the runs ("variance_over_runs", with its position in "at"). For each floating-point tensor that
/// differs, a picture of the elements' standard deviation is written to `heatmaps`.
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
  double step = 1e-6;       ///< step of the central difference, relative to max(1, |x|)
  double tolerance = 1e-5;  ///< relative to max(1, |numerical|); float64, truncation is O(step^2)
  int projections = 4;
  std::uint64_t seed = 0;
  Interrupt interrupt = {};  ///< polled before each run
  Isolation isolation = {};
};

/// Checks `backward` of a framework's operator against central differences of its own forward, in
/// float64, for every differentiable input. Skipped if no output is float64, as for operators that
/// always write float32. A framework without float64 is compared with the reference's gradients
/// (the condition "mode" is "reference"), within its type's rounding; a custom operator without
/// float64, with differences in the case's own types (the condition "precision").
///
/// If the slopes on both sides of a point differ, every slope between them is correct. The
/// condition "kinks" counts such elements (of the input; of the outputs in projections), "jumps"
/// those where the value itself is discontinuous. Elements without a number are counted as
/// "undefined places" and not compared. A record that compared nothing is skipped.
/// Throws: Interrupted; every other error is a record.
[[nodiscard]] std::vector<Measurement> test_gradient(const OperatorCase& op_case,
                                                     const std::string& subject,
                                                     const GradientOptions& options = {});

/// Comparison of two values.
struct Difference {
  bool equal = true;
  double largest_absolute = 0;
  double largest_relative = 0;  ///< relative to the largest expected number of the tensor
  std::string where;  ///< first element out of tolerance: "output Y[3]: got 1.5, expected 2"
};
/// Compares two values. NaN equals NaN; integers, strings and booleans must be equal.
[[nodiscard]] Difference compare_values(const Value& got, const Value& expected,
                                        ForwardTolerance tolerance);

}  // namespace d5
