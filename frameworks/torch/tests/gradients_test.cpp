// SPDX-License-Identifier: Apache-2.0
// The gradients that torch's autograd gives, on the lines on which the reference's are checked.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/operator_validation.hpp"

using namespace d5;

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr const char* kTables = D5_TORCH_TEST_DIR "/../../../tests/level0_ops/gradients";

/// The lines that are no comments.
std::set<std::string> lines_of(const std::filesystem::path& file) {
  std::set<std::string> lines;
  std::ifstream in(file);
  REQUIRE(in);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') lines.insert(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("torch's gradients are the slopes of its forward, but for the exceptions") {
  std::set<std::string> exceptions = lines_of(D5_TORCH_TEST_DIR "/gradient_exceptions.txt");
  const auto& torch = framework("torch").part<OperatorRegistry>();
  std::size_t passed = 0;
  for (const auto& file : std::filesystem::directory_iterator(kTables)) {
    for (const std::string& line : lines_of(file.path())) {
      if (line.starts_with("none ") || line.starts_with("float32 ")) continue;
      const OperatorCase op_case = parse_case(line, kSeed);
      if (!torch.knows(op_case.node)) continue;
      const Status expected = exceptions.erase("refused " + line) > 0 ? Status::unsupported
                              : exceptions.erase("other " + line) > 0 ? Status::failed
                                                                      : Status::passed;
      for (const auto& record : test_gradient(op_case, "torch")) {
        INFO(file.path().filename() << ": " << record.subject << ": " << record.reason);
        CHECK(record.status == expected);
        passed += record.status == Status::passed ? 1 : 0;
      }
    }
  }
  CHECK(passed > 0);
  for (const std::string& line : exceptions) FAIL_CHECK("no table has the line of: " << line);
}
