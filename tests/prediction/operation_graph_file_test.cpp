// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_graph_file.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "tests/core/svg_texts.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

OperationGraph small_graph() {
  OperationGraph graph("a \"small\" one");
  const auto compute = graph.lane(0, "compute");
  const auto network = graph.lane(OperationLane::kShared, "network", 2);
  const auto gone = graph.add({"gone", "load", compute, 1});
  const auto back = graph.add({"fc<1>", "backward", compute, 0.1}, {gone});
  graph.add({"bucket 0",
             "all_reduce",
             network,
             1.0 / 3,
             -4,
             CostRule{"ring", 1e9, 8},
             {{"bytes", std::int64_t{1} << 40}, {"share", 2.0}, {"text", "x"}}},
            {back});
  graph.remove(gone);
  return graph;
}

TEST_CASE("a graph of operations reads back as it was written") {
  const OperationGraph graph = small_graph();
  const OperationGraph again = operation_graph_from_json(to_json(graph), "again.json");
  CHECK(again.name() == graph.name());
  CHECK(again.lanes() == graph.lanes());
  REQUIRE(again.size() == 2);
  CHECK(again.operation(0) == graph.operation(1));
  CHECK(again.operation(1) == graph.operation(2));
  CHECK(again.predecessors(1) == std::vector<OperationGraph::Id>{0});
  CHECK(to_json(again) == to_json(graph));
}

TEST_CASE("an error in a file of a graph has its place") {
  const std::string head =
      R"({"format": "d5 graph of operations", "schema": 1, "name": "g",)"
      R"("lanes": [{"rank": 0, "name": "compute", "width": 1}], "operations": [)";
  const auto [text, says] = GENERATE_COPY(table<std::string, std::string>({
      {"{}", "format"},
      {R"({"format": "d5 graph of operations", "schema": 2})", "schema is 2, expected 1"},
      {head + R"({"name": "a", "kind": "forwrd", "lane": 0, "seconds": 1}]})", "forward"},
      {head + R"({"name": "a", "kind": "forward", "lane": 1, "seconds": 1}]})", "operations[0]"},
      {head + R"({"name": "a", "kind": "forward", "lane": 0, "seconds": "NaN"}]})",
       "operations[0]"},
      {head + R"({"name": "a", "kind": "forward", "lane": 0, "seconds": 1, "after": [0]}]})",
       "after names operation 0"},
      {head + R"({"name": "a", "kind": "forward", "lane": 0, "seconds": 1, "after": [7]}]})",
       "after names operation 7"},
      {head, "truncated"},
  }));
  INFO(text);
  CHECK_THROWS_AS(operation_graph_from_json(text, "g.json"), FormatError);
  CHECK_THROWS_WITH(operation_graph_from_json(text, "g.json"), Catch::Contains(says));
}

TEST_CASE("drawings of a graph name every operation, and mean what its text says") {
  const OperationGraph graph = small_graph();
  const std::string dot = to_dot(graph), svg = to_svg(graph);
  CHECK_THAT(dot, Catch::Contains("fc<1>") && Catch::Contains("o1 -> o2"));
  CHECK(testing::faults_of_texts(svg).empty());
  CHECK_THAT(svg, Catch::Contains("fc&lt;1&gt;") && Catch::Contains("bucket 0"));
  CHECK_THAT(dot, Catch::Contains("a \\\"small\\\" one"));
  const testing::TemporaryFolder folder;
  for (const std::string name : {"g.dot", "g.svg", "g.json"}) {
    write_operation_graph(graph, folder / name);
    const std::string text = read_file(folder / name);
    CHECK(text == (name == "g.dot" ? dot : name == "g.svg" ? svg : to_json(graph)));
  }
  CHECK(read_operation_graph(folder / "g.json").size() == 2);
}

}  // namespace
}  // namespace d5
