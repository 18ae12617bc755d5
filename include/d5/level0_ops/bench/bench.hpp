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

/// How operators are measured.
struct BenchOptions {
  enum class Passes {
    forward,
    backward,          ///< the gradients of all inputs that have one
    backward_data,     ///< of the data alone, the first input that has one
    backward_weights,  ///< of the others: Conv's W and B, Gemm's B and C
    both,              ///< forward and backward
    each,              ///< forward, backward_data, backward_weights
  };
  /// Side by side, the first is the base; "all" as in `operator_words`.
  std::vector<std::string> frameworks = {"reference"};
  Device device = {};
  Passes passes = Passes::both;  ///< of several those that the operator has
  std::vector<MetricChoice> metrics = {"time"};
  MeasureOptions measuring = {};
  ErrorDetail errors = ErrorDetail::largest;
  /// Of each pass, all frameworks together; after a crash each by itself, and those that crash are
  /// left out.
  Isolation isolation = {};
  std::string command_options = {};  ///< at the end of every record's command: " --load mine.so"
};

/// `words`, where "all" stands for every framework that can be loaded and has operators. As
/// `framework_words`.
[[nodiscard]] std::vector<std::string> operator_words(const std::vector<std::string>& words);

/// Those that are measured one after the other.
[[nodiscard]] std::vector<BenchOptions::Passes> passes_in(BenchOptions::Passes passes);

/// By their names: "backward-data".
[[nodiscard]] const std::map<std::string, BenchOptions::Passes>& passes_by_name();

/// What `d5 op bench` does: one operator in several frameworks, interleaved, forward and backward.
/// Rates follow from the operator's cost, ratios to the first framework's time, and forward the
/// distance from the reference's answer ("error").
///
///     std::cout << to_table(bench("Conv 16x3x32x32 8x3x3x3", {.frameworks = {"reference",
///                                                                             "torch"}}));
///
/// A framework that cannot run it has a record that says why. Throws: FormatError for a line that
/// is no case, NotFound for a framework that is not there.
[[nodiscard]] std::vector<Measurement> bench(const OperatorCase& one,
                                             const BenchOptions& options = {});
/// `line` is a case, its random inputs drawn from `options.measuring.seed`.
[[nodiscard]] std::vector<Measurement> bench(const std::string& line,
                                             const BenchOptions& options = {});

/// What `bench` would measure, planned and not run: a skipped record for each framework and pass,
/// or one that says why it cannot be.
[[nodiscard]] std::vector<Measurement> plan_bench(const OperatorCase& one,
                                                  const BenchOptions& options = {});

/// One operator in one framework, ready to run again and again: what `bench` measures.
/// Throws: what the framework says if it cannot; Unsupported for a backward pass that is not there.
[[nodiscard]] Subject operator_subject(const OperatorCase& one, const std::string& framework,
                                       BenchOptions::Passes pass, Device device = {});

}  // namespace d5
