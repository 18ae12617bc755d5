// SPDX-License-Identifier: Apache-2.0
// Compares the reference with ONNX Runtime for operators that only the latter defines.
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

using namespace d5;

TEST_CASE("the reference means by ONNX Runtime's own operators what ONNX Runtime does") {
  const auto lines = read_cases(D5_ONNXRUNTIME_TEST_DIR "/contrib_operators.txt", 1);
  REQUIRE_FALSE(lines.empty());
  for (const CaseLine& one : lines) {
    INFO(one.line);
    const auto records = test_forward(one.draw(), "onnxruntime");
    REQUIRE_FALSE(records.empty());
    for (const auto& record : records) {
      INFO(record.metric << ": " << record.reason);
      CHECK(record.status == Status::passed);
    }
  }
}
