// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "level0_ops/bench/operator_judge.hpp"

namespace d5::detail {

/// The name in `passes_by_name`.
[[nodiscard]] std::string name_of(BenchOptions::Passes pass);

/// The part of a pass's record that is known before it runs.
[[nodiscard]] Measurement pass_record(const OperatorCase& one, const std::string& framework,
                                      BenchOptions::Passes pass);

/// An operator in a framework, planned for `pass`. Throws: as `operator_subject`.
[[nodiscard]] std::shared_ptr<OperatorRunner> plan_pass(const OperatorCase& one,
                                                        const std::string& framework,
                                                        BenchOptions::Passes pass, Device device);

/// `operator_subject` with a judge shared by the case's subjects.
[[nodiscard]] Subject judged_subject(const OperatorCase& one, const std::string& framework,
                                     BenchOptions::Passes pass, Device device,
                                     const std::shared_ptr<OperatorJudge>& judge);

}  // namespace d5::detail
