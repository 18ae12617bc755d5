// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/measurement.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_runner.hpp"

namespace d5::app {

/// One operator case in one framework, ready to run again and again.
class OperatorSubject {
 public:
  /// Throws: what the framework says if it cannot.
  OperatorSubject(const OperatorCase& one, const std::string& framework, Mode mode);

  [[nodiscard]] const std::string& framework() const { return framework_; }
  [[nodiscard]] OperatorRunner& runner() { return *runner_; }
  [[nodiscard]] Subject forward();
  /// Needs Mode::training. Runs forward and backward once, with random gradients of the outputs.
  /// Throws: Unsupported without backward.
  [[nodiscard]] Subject backward();
  /// A record with everything filled in that is known before measuring.
  [[nodiscard]] Measurement record() const;

 private:
  std::string line_, framework_;
  std::uint64_t seed_;
  std::shared_ptr<OperatorRunner> runner_;
  std::vector<Tensor> grad_outputs_;
};

}  // namespace d5::app
