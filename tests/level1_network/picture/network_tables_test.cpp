// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/picture/network_tables.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::vector<std::string> titles(const TextTable& table) {
  std::vector<std::string> titles;
  for (const auto& column : table.columns()) titles.push_back(column.title);
  return titles;
}

}  // namespace

TEST_CASE("facts of a network say what it was opened by, its inputs and its parameters") {
  Network network = open_model("lenet");
  const auto table = facts_table(network, summarise(network, {.batch = 2}), "lenet", {.batch = 2});
  const auto text = table.to_text(Format::csv);
  CHECK_THAT(text, Contains("from,lenet") && (Contains("input image,\"float32 Nx1x28x28\"") ||
                                              Contains("input image,float32 Nx1x28x28")));
  CHECK_THAT(text, Contains("61706 elements") && Contains("--batch 2"));
}

TEST_CASE("parts have a column a framework, and for programs the names of tensors") {
  const Network network = open_model("lenet");
  const auto summary = summarise(network);
  const auto people = parts_table(network, summary, SummaryBy::node, {"reference"});
  CHECK(people.columns().back().title == "reference");
  CHECK(people.rows().front().back() == "yes");
  CHECK(std::ranges::count(titles(people), "inputs") == 0);
  const auto programs = parts_table(network, summary, SummaryBy::node, {"reference"}, Format::json);
  CHECK(std::ranges::count(titles(programs), "inputs") == 1);
  CHECK(programs.size() == network.graph().nodes.size() + 1);  // and the total
  CHECK_THROWS_AS(parts_table(network, summary, SummaryBy::node, {"refrence"}), NotFound);
}

TEST_CASE("a part that no framework has says why") {
  Network network("strange");
  network.add_input("x", DType::float32, {2});
  network.add_node("Frobnicate", {"x"}, {"y"}, {}, "odd").domain = "example";
  network.add_output("y");
  const auto table = parts_table(network, summarise(network), SummaryBy::node, {"reference"});
  CHECK_THAT(table.rows().front().back(), Contains("Frobnicate"));
}

TEST_CASE("layers are shown of many nodes, nodes of few") {
  CHECK(usual_parts(summarise(open_model("lenet"))) == SummaryBy::node);
  CHECK(usual_parts(summarise(open_model("resnet-50"))) == SummaryBy::layer);
}
