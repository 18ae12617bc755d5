// SPDX-License-Identifier: Apache-2.0
// The gradients that TensorFlow gives, on the lines on which the reference's are checked.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "tests/level0_ops/case_tables.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr const char* kSource = D5_TENSORFLOW_TEST_DIR "/../../..";

std::set<std::string> read_exceptions() {
  std::set<std::string> exceptions;
  for (const auto& line : testing::table_lines(D5_TENSORFLOW_TEST_DIR "/gradient_exceptions.txt")) {
    exceptions.insert(line.text);
  }
  return exceptions;
}

}  // namespace

TEST_CASE("TensorFlow's gradients are the slopes of its forward, but for the exceptions") {
  std::set<std::string> exceptions = read_exceptions();
  const auto& tensorflow = framework("tensorflow").part<OperatorRegistry>();
  std::size_t passed = 0;
  for (const auto& [name, row] : testing::gradient_table(kSource)) {
    for (const std::string& line : row.cases) {
      const OperatorCase op_case = parse_case(line, kSeed);
      if (!tensorflow.knows(op_case.node)) continue;
      const Status expected = exceptions.erase("refused " + line) > 0 ? Status::unsupported
                              : exceptions.erase("other " + line) > 0 ? Status::failed
                                                                      : Status::passed;
      for (const auto& record : test_gradient(op_case, "tensorflow")) {
        INFO(record.subject << ": " << record.reason);
        const bool agrees_on_nothing = expected == Status::passed && agrees(record);
        CHECK((record.status == expected || agrees_on_nothing));
        passed += record.status == Status::passed ? 1 : 0;
      }
    }
  }
  CHECK(passed > 0);
  for (const std::string& line : exceptions) FAIL_CHECK("no table has the line of: " << line);
}
