// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/bench/operator_matrix.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

const std::vector<OperatorSupport> kRows = {
    {.name = "Relu", .framework = "a", .opsets = "6+", .passed = 2, .cases = 3},
    {.name = "Conv",
     .framework = "b",
     .opsets = "1+",
     .types = {DType::float32},
     .gradient_types = {DType::float32}}};

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("the matrix has a row an operator by its name, and a column a framework") {
  const TextTable table = operator_matrix(kRows);
  REQUIRE(table.columns().size() == 3);
  CHECK(table.columns().at(1).title == "a");
  CHECK(table.rows() == Rows{{"Conv", "", "yes ∇"}, {"Relu", "2/3", ""}});
}

TEST_CASE("an operator's rows say all, and one that nobody has is not found") {
  const TextTable table = operator_rows(kRows, "Conv", Format::csv);
  CHECK(table.rows() == Rows{{"Conv", "b", "1+", "float32", "float32", "0", "0"}});
  CHECK(operator_rows(kRows, "", Format::csv).size() == 2);
  CHECK_THROWS_AS(operator_rows(kRows, "Conw", Format::csv), NotFound);
}

TEST_CASE("a framework that is named is asked, once") {
  const auto rows = supported_operators({"reference", "reference"});
  CHECK(std::ranges::count(rows, "Relu", &OperatorSupport::name) == 1);
  CHECK(std::ranges::all_of(rows, [](const auto& row) { return row.framework == "reference"; }));
  CHECK_THROWS_AS(supported_operators({"no-such"}), NotFound);
}
