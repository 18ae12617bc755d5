// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "level0_ops/validation/expected_outputs.hpp"

namespace d5::detail {

/// Judges runners of one case by the tolerances of `test_forward` and `test_gradient`. The
/// reference runs when the first runner is judged, in float64 if possible. A reference that may
/// take longer than `most_seconds` is first tried in a process of its own; if it does take longer,
/// the framework that is judged first judges the others.
class OperatorJudge {
 public:
  explicit OperatorJudge(OperatorCase one, double most_seconds = MeasureOptions().judge_seconds,
                         Interrupt interrupt = {})
      : one_(std::move(one)), most_seconds_(most_seconds), interrupt_(std::move(interrupt)) {}

  /// Judges the outputs of a finished run. Random outputs are judged by their distribution. Throws:
  /// what the reference throws.
  [[nodiscard]] Verdict outputs(const OperatorRunner& runner, const std::string& framework);
  /// Judges the gradients of a backward run from the output gradients `directions`.
  [[nodiscard]] Verdict gradients(const OperatorRunner& runner, const std::string& framework,
                                  const std::vector<Tensor>& directions);
  /// Whether the reference exceeded the time.
  [[nodiscard]] bool takes_too_long() const { return !stand_in_.empty(); }

 private:
  struct Gradients {
    std::vector<Tensor> values;
    Cost cost;
  };
  [[nodiscard]] Gradients computed_gradients(const std::vector<Tensor>& directions, bool exact);
  /// The gradient of each input, on the host; undefined if there is none.
  [[nodiscard]] std::vector<Tensor> gradients_of(const OperatorRunner& runner) const;
  /// Whether `compute`, with work `cost`, ends in time.
  [[nodiscard]] bool is_in_time(const Cost& cost, const std::function<void()>& compute) const;
  [[nodiscard]] Verdict judges_others() const;

  OperatorCase one_;
  double most_seconds_;
  Interrupt interrupt_;
  std::optional<ExpectedOutputs> outputs_ = {};
  std::optional<Gradients> gradients_ = {};
  std::string judge_ = {};
  std::string stand_in_ = {};  ///< framework that replaces the reference; empty: none
};

}  // namespace d5::detail
