// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "level0_ops/judge/fresh_case.hpp"

namespace d5::detail {

/// A framework that runs each call's inputs too, while the judged process is frozen.
class Baseline {
 public:
  /// `source` is the source's record before it is judged. Throws: NotFound, or why the framework
  /// cannot be loaded.
  Baseline(const std::string& framework, const Measurement& source, JudgedPass pass);

  /// Runs the pass once, and keeps its time if `is_timed`. An error is recorded.
  void run(const FreshCall& fresh, bool is_timed);
  [[nodiscard]] Measurement& record() { return record_; }

 private:
  const OperatorRegistry* registry_;
  JudgedPass pass_;
  std::optional<OperatorRunner> runner_;
  Measurement record_;
};

}  // namespace d5::detail
