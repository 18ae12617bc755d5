// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_support.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::vector<OperatorSupport> read(const std::string& text) {
  return operator_support_from_csv(text, "mine", "mine.csv");
}

}  // namespace

TEST_CASE("a table is read back as it was written") {
  const std::string text =
      "operator,opsets,types,gradient_types,passed,cases\n"
      "Conv,1+,float32 float64,float32,18,19\n"
      "mine.Op,1-2 4+,,,0,0\n";
  const auto rows = read(text);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "Conv");
  CHECK(rows[0].framework == "mine");
  CHECK(rows[0].types == std::vector{DType::float32, DType::float64});
  CHECK(rows[0].gradient_types == std::vector{DType::float32});
  CHECK(rows[0].passed == 18);
  CHECK(rows[1].opsets == "1-2 4+");
  CHECK(to_csv(rows) == text);
  CHECK(read(to_csv({})).empty());
}

TEST_CASE("a damaged file is refused with the line") {
  const std::string head = to_csv({});
  CHECK_THROWS_WITH(read("operator,types\n"), Contains("mine.csv:1"));
  CHECK_THROWS_WITH(read(head + "Conv,1+,float32\n"), Contains("mine.csv:2: 3 cells"));
  CHECK_THROWS_WITH(read(head + "Conv,1+,,,x,3\n"), Contains("'x' is not a count"));
  CHECK_THROWS_WITH(read(head + "Conv,1+,,,-1,3\n"), Contains("'-1' is not a count"));
  CHECK_THROWS_AS(read(head + "Conv,1+,float31,,1,3\n"), NotFound);
}

TEST_CASE("what d5 carries of the reference holds every operator that it has") {
  const auto live = operator_support(framework("reference").part<OperatorRegistry>());
  auto carried = operator_support();
  std::erase_if(carried, [](const auto& row) { return row.framework != "reference"; });
  REQUIRE(live.size() == carried.size());
  for (std::size_t i = 0; i < live.size(); ++i) {
    CHECK(live[i].name == carried[i].name);
    CHECK(live[i].opsets == carried[i].opsets);
  }
  const auto conv = std::ranges::find(live, "Conv", &OperatorSupport::name);
  CHECK(std::ranges::count(conv->gradient_types, DType::float64) == 1);
}
