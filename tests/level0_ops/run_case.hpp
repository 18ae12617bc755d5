// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5 {

/// The reference's operator of one case, run forward with a guard over its memory.
inline OperatorRunner run_case(const std::string& line, Mode mode = Mode::inference) {
  const OperatorCase op_case = parse_case(line);
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), op_case.node,
                        op_case.inputs, mode, Guard::on);
  runner.forward();
  return runner;
}

/// Output `i` of a case, as values of its type T.
template <class T = float>
std::vector<T> result_of(const std::string& line, std::size_t i = 0) {
  const OperatorRunner runner = run_case(line);
  const auto values = runner.output(i).tensor().span<T>();
  return {values.begin(), values.end()};
}

/// Shape of output `i` of a case, as text.
inline std::string shape_of(const std::string& line, std::size_t i = 0) {
  return to_string(run_case(line).output(i).tensor().shape());
}

/// Whether a record of a case that says what is right passed, or agrees with an answer that is
/// empty, or one number, by right.
inline bool agrees(const Measurement& record) {
  return record.status == Status::passed ||
         (record.status == Status::mistrusted && condition_of(record, "compared") == "nothing");
}

/// Requires that every differentiable input of the case passes the numerical check.
inline void check_gradient(const std::string& line, std::size_t inputs,
                           GradientOptions options = {}) {
  INFO(line);
  const auto results = test_gradient(parse_case(line, 1), "reference", options);
  CHECK(results.size() == inputs);
  for (const auto& result : results) {
    INFO(result.reason);
    CHECK(agrees(result));
  }
}

}  // namespace d5
