// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/measure.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "level0_ops/validation/expected_outputs.hpp"

namespace d5::detail {

/// Judges runners of one case by what `test_forward` and `test_gradient` allow. The reference runs
/// when the first of them is judged, in float64 where it can.
class OperatorJudge {
 public:
  explicit OperatorJudge(OperatorCase one) : one_(std::move(one)) {}

  /// Of the outputs of a run that has ended. What draws random numbers is judged by their
  /// distribution. Throws: what the reference throws, which knows nothing then.
  [[nodiscard]] Verdict outputs(const OperatorRunner& runner);
  /// Of the gradients of a backward run that began at `directions`.
  [[nodiscard]] Verdict gradients(const OperatorRunner& runner,
                                  const std::vector<Tensor>& directions);

 private:
  struct Gradients {
    std::vector<Tensor> values;
    Cost cost;
  };
  void compute_gradients(const std::vector<Tensor>& directions, bool exact);

  OperatorCase one_;
  std::optional<ExpectedOutputs> outputs_ = {};
  std::optional<Gradients> gradients_ = {};
  std::string judge_ = {};
};

}  // namespace d5::detail
