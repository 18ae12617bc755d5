// SPDX-License-Identifier: Apache-2.0
// Every operator's gradient, checked on the lines of gradients/*.txt, or why it has none.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "tests/level0_ops/case_tables.hpp"
#include "tests/level0_ops/run_case.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

std::map<std::string, testing::GradientRow> gradient_rows() {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
  return testing::gradient_table(source);
}

}  // namespace

TEST_CASE("every operator's gradient is checked, or the table says why there is none") {
  const auto rows = gradient_rows();
  for (const auto& entry : framework("reference").part<OperatorRegistry>().list()) {
    const std::string name = entry.domain.empty() ? entry.name : entry.domain + "." + entry.name;
    INFO(name);
    const auto row = rows.find(name);
    CHECK(row != rows.end());
    if (row == rows.end()) continue;
    const auto& [cases, in_float32, none] = row->second;
    // One or the other; few cases show little.
    const std::size_t count = cases.size() + in_float32.size();
    CHECK((none.empty() ? count >= 5 : count == 0));
  }
}

TEST_CASE("a gradient that float64 cannot judge is skipped, and is neither passed nor failed") {
  std::size_t skipped = 0;
  for (const auto& [name, row] : gradient_rows()) {
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
  for (const auto& [name, row] : gradient_rows()) {
    for (const std::string& line : row.cases) {
      INFO(line);
      const auto records = test_gradient(parse_case(line, ++seed), "reference");
      REQUIRE_FALSE(records.empty());
      for (const auto& record : records) {
        INFO(record.subject << ": " << record.reason);
        CHECK(agrees(record));
      }
    }
  }
}

TEST_CASE("a table with a line that says nothing, or that comes twice, is refused with its place") {
  const testing::TemporaryFolder source;
  const std::string folder = source / "tests/level0_ops/gradients";
  std::filesystem::create_directories(folder);
  write_file(folder + "/a.txt", "# A comment.\n\nRelu 2x3\nRelu@6 2\nnone Not: it has none\n");
  const auto rows = testing::gradient_table(source.path());
  CHECK(rows.at("Relu").cases == std::vector<std::string>{"Relu 2x3", "Relu@6 2"});
  CHECK(rows.at("Not").none == "it has none");
  const auto refused = [&](const std::string& line, const std::string& message) {
    write_file(folder + "/b.txt", "Abs 2\n" + line + "\n");
    CHECK_THROWS_AS(testing::gradient_table(source.path()), FormatError);
    CHECK_THROWS_WITH(testing::gradient_table(source.path()), Catch::Contains(message));
  };
  refused("none Shape", "b.txt:2: 'none Shape', expected 'none WHAT: WHY'");
  refused("none : why", "b.txt:2");
  refused("Relu 2x3", "b.txt:2: 'Relu 2x3' is in a.txt:3 already");
  refused("none Not: again", "b.txt:2: 'none Not' is in a.txt:5 already");
  CHECK_THROWS_AS(testing::table_lines(source / "none.txt"), IoError);
}
