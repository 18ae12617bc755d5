// SPDX-License-Identifier: Apache-2.0
// Every operator's gradient, checked on the lines of gradients/*.txt, or why it has none.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/operator_validation.hpp"

using namespace d5;

namespace {

/// What the table says of one operator.
struct Row {
  std::vector<std::string> cases;
  std::vector<std::string> in_float32;
  std::string none;  ///< why it has no gradient
};

/// A line of a file is a case, or `none [domain.]Operator: why`, or `float32` and a case that
/// writes that whatever it reads, of which the check says so.
std::map<std::string, Row> read_table() {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
  std::map<std::string, Row> table;
  const auto folder = std::filesystem::path(source) / "tests" / "level0_ops" / "gradients";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line.front() == '#') continue;
      if (line.starts_with("float32 ")) {
        line.erase(0, 8);
        table[line.substr(0, line.find_first_of(" @"))].in_float32.push_back(line);
      } else if (line.starts_with("none ")) {
        const auto colon = line.find(": ");
        INFO(file.path().filename() << ": " << line);
        REQUIRE(colon != std::string::npos);
        table[line.substr(5, colon - 5)].none = line.substr(colon + 2);
      } else {
        table[line.substr(0, line.find_first_of(" @"))].cases.push_back(line);
      }
    }
  }
  return table;
}

}  // namespace

TEST_CASE("every operator's gradient is checked, or the table says why there is none") {
  const auto table = read_table();
  for (const auto& entry : framework("reference").part<OperatorRegistry>().list()) {
    const std::string name = entry.domain.empty() ? entry.name : entry.domain + "." + entry.name;
    INFO(name);
    const auto row = table.find(name);
    CHECK(row != table.end());
    if (row == table.end()) continue;
    const auto& [cases, in_float32, none] = row->second;
    // One or the other; few cases show little.
    const std::size_t count = cases.size() + in_float32.size();
    CHECK((none.empty() ? count >= 5 : count == 0));
  }
}

TEST_CASE("a gradient that float64 cannot judge is skipped, and is neither passed nor failed") {
  std::size_t skipped = 0;
  for (const auto& [name, row] : read_table()) {
    for (const std::string& line : row.in_float32) {
      INFO(line);
      const auto records = test_gradient(parse_case(line, 1), "reference");
      REQUIRE(records.size() == 1);
      CHECK(records[0].status == Status::skipped);
      CHECK(records[0].samples.empty());
      CHECK_THAT(records[0].reason, Catch::Contains("is float32"));
      ++skipped;
    }
  }
  CHECK(skipped > 0);
}

TEST_CASE("gradients are the slopes of forward on every line of the table") {
  std::uint64_t seed = 0;
  for (const auto& [name, row] : read_table()) {
    for (const std::string& line : row.cases) {
      INFO(line);
      const auto records = test_gradient(parse_case(line, ++seed), "reference");
      REQUIRE_FALSE(records.empty());
      for (const auto& record : records) {
        INFO(record.subject << ": " << record.reason);
        CHECK(record.status == Status::passed);
      }
    }
  }
}
