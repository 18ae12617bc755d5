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

/// Judges runners of one case by what `test_forward` and `test_gradient` allow. The reference runs
/// when the first of them is judged, in float64 where it can. One that may take longer than
/// `most_seconds` is tried in a process of its own; if it does, the framework that is judged first
/// judges the others.
class OperatorJudge {
 public:
  explicit OperatorJudge(OperatorCase one, double most_seconds = MeasureOptions().judge_seconds,
                         Interrupt interrupt = {})
      : one_(std::move(one)), most_seconds_(most_seconds), interrupt_(std::move(interrupt)) {}

  /// Of the outputs of a run that has ended. What draws random numbers is judged by their
  /// distribution. Throws: what the reference throws, which knows nothing then.
  [[nodiscard]] Verdict outputs(const OperatorRunner& runner, const std::string& framework);
  /// Of the gradients of a backward run that began at `directions`.
  [[nodiscard]] Verdict gradients(const OperatorRunner& runner, const std::string& framework,
                                  const std::vector<Tensor>& directions);
  /// Whether the reference was found to.
  [[nodiscard]] bool takes_too_long() const { return !stand_in_.empty(); }

 private:
  struct Gradients {
    std::vector<Tensor> values;
    Cost cost;
  };
  [[nodiscard]] Gradients computed_gradients(const std::vector<Tensor>& directions, bool exact);
  /// Of each input, on the host; undefined where there is none.
  [[nodiscard]] std::vector<Tensor> gradients_of(const OperatorRunner& runner) const;
  /// Whether `compute`, of so much work, ends in time.
  [[nodiscard]] bool is_in_time(const Cost& cost, const std::function<void()>& compute) const;
  [[nodiscard]] Verdict judges_others() const;

  OperatorCase one_;
  double most_seconds_;
  Interrupt interrupt_;
  std::optional<ExpectedOutputs> outputs_ = {};
  std::optional<Gradients> gradients_ = {};
  std::string judge_ = {};
  std::string stand_in_ = {};  ///< a framework; empty: the reference judges
};

}  // namespace d5::detail
