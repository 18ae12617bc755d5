// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/core/measuring/isolation.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5 {

/// Options of operator benchmarks.
struct BenchOptions {
  enum class Passes {
    forward,
    backward,          ///< all input gradients
    backward_data,     ///< the data's gradient only: the first input that has one
    backward_weights,  ///< the other inputs' gradients: Conv's W and B, Gemm's B and C
    both,              ///< forward and backward
    each,              ///< forward, backward_data, backward_weights
  };
  /// Compared frameworks, the first is the base; "all" as in `operator_words`.
  std::vector<std::string> frameworks = {"reference"};
  Device device = {};
  Passes passes = Passes::both;  ///< limited to those that the operator has
  std::vector<MetricChoice> metrics = {"time"};
  MeasureOptions measuring = {};
  ErrorDetail errors = ErrorDetail::largest;
  /// Isolates each pass of all frameworks together; after a crash, each framework alone, without
  /// those that crash.
  Isolation isolation = {};
  std::string command_options = {};  ///< end of every record's command: " --load mine.so"
};

/// `words` with "all" expanded to every loadable framework that has operators. As
/// `framework_words`. Throws: as `expect_known_framework` for each word.
[[nodiscard]] std::vector<std::string> operator_words(const std::vector<std::string>& words);

/// The passes that are measured one after another.
[[nodiscard]] std::vector<BenchOptions::Passes> passes_in(BenchOptions::Passes passes);

/// Passes by name: "backward-data".
[[nodiscard]] const std::map<std::string, BenchOptions::Passes>& passes_by_name();

/// Measures an operator in several frameworks, interleaved, forward and backward (`d5 op bench`).
/// Adds rates from the operator's cost, ratios to the first framework's time, and for forward the
/// error against the reference ("error").
///
///     std::cout << to_table(bench("Conv 16x3x32x32 8x3x3x3", {.frameworks = {"reference",
///                                                                             "torch"}}));
///
/// A framework that cannot run the operator gets a record with the reason. Throws: FormatError for
/// a malformed case, NotFound for an unknown framework.
[[nodiscard]] std::vector<Measurement> bench(const OperatorCase& one,
                                             const BenchOptions& options = {});
/// `line` is a case; `options.measuring.seed` seeds its random inputs.
[[nodiscard]] std::vector<Measurement> bench(const std::string& line,
                                             const BenchOptions& options = {});

/// Plans `bench` without running it: a skipped record for each framework and pass, or one with the
/// reason why it cannot run.
[[nodiscard]] std::vector<Measurement> plan_bench(const OperatorCase& one,
                                                  const BenchOptions& options = {});

/// A subject of `bench`: an operator in a framework, ready to run repeatedly. Throws: the
/// framework's error if it cannot run it; Unsupported for a missing backward pass.
[[nodiscard]] Subject operator_subject(const OperatorCase& one, const std::string& framework,
                                       BenchOptions::Passes pass, Device device = {});

}  // namespace d5
