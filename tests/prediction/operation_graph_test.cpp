// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_graph.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_kind.hpp"

namespace d5 {
namespace {

using Ids = std::vector<OperationGraph::Id>;

/// a -> b -> c, of 1, 2 and 3 s.
struct Chain {
  OperationGraph graph{"chain"};
  std::size_t lane = graph.lane(0, "compute");
  OperationGraph::Id a = graph.add({"a", "forward", lane, 1}),
                     b = graph.add({"b", "forward", lane, 2}, {a}),
                     c = graph.add({"c", "forward", lane, 3}, {b});
};

TEST_CASE("operations that wait for each other in a circle are named") {
  Chain chain;
  chain.graph.add({"first", "forward", chain.lane, 1});
  chain.graph.add_edge(chain.c, chain.a);
  CHECK_THROWS_AS(chain.graph.check(), ValueError);
  CHECK_THROWS_WITH(chain.graph.check(), Catch::Contains("'a' -> 'b' -> 'c' -> 'a'") ||
                                             Catch::Contains("'b' -> 'c' -> 'a' -> 'b'") ||
                                             Catch::Contains("'c' -> 'a' -> 'b' -> 'c'"));
  chain.graph.remove_edge(chain.c, chain.a);
  CHECK_NOTHROW(chain.graph.check());
}

TEST_CASE("an operation that cannot be is refused by name") {
  OperationGraph graph("bad");
  const auto lane = graph.lane(0, "compute");
  CHECK_THROWS_AS(graph.add({"x", "forwards", lane, 1}), NotFound);
  CHECK_THROWS_WITH(graph.add({"x", "forwards", lane, 1}), Catch::Contains("forward"));
  CHECK_THROWS_AS(graph.add({"x", "forward", lane, -1}), ValueError);
  CHECK_THROWS_AS(graph.add({"x", "forward", lane, NAN}), ValueError);
  CHECK_THROWS_AS(graph.add({"x", "forward", 7, 1}), ValueError);
  CHECK_THROWS_AS(graph.add({"x", "forward", lane, 1}, {5}), ValueError);
  CHECK_THROWS_AS(graph.add({"x", "all_reduce", lane, 0, 0, CostRule{"ring", 8, 0}}), ValueError);
  CHECK_THROWS_AS(graph.lane(0, "compute", 2), ValueError);
  CHECK(graph.size() == 0);
  const auto x = graph.add({"x", "forward", lane, 1});
  CHECK_THROWS_AS(graph.add_edge(x, x), ValueError);
  CHECK_THROWS_AS(graph.retime(x, -1), ValueError);
}

TEST_CASE("one more kind of operation is one more entry") {
  operation_kinds().add("evaporate", {"of this test", "air"});
  OperationGraph graph;
  CHECK_NOTHROW(graph.add({"x", "evaporate", graph.lane(0, "air"), 1}));
}

TEST_CASE("an inserted operation stands on the edge") {
  Chain chain;
  const auto between = chain.graph.insert({"between", "forward", chain.lane, 1}, chain.a, chain.b);
  CHECK(chain.graph.successors(chain.a) == Ids{between});
  CHECK(chain.graph.predecessors(chain.b) == Ids{between});
  CHECK_THROWS_AS(chain.graph.insert({"x", "forward", chain.lane, 1}, chain.a, chain.c),
                  ValueError);
}

TEST_CASE("the parts of a split operation are in a row and are the whole together") {
  Chain chain;
  chain.graph.edit(chain.b).attributes = {{"bytes", std::int64_t{1000}}};
  const auto parts = chain.graph.split(chain.b, std::array{0.25, 0.75});
  REQUIRE(parts.size() == 2);
  CHECK(parts[0] == chain.b);
  CHECK(chain.graph.operation(parts[0]).seconds == 0.5);
  CHECK(chain.graph.operation(parts[1]).seconds == 1.5);
  CHECK(std::get<std::int64_t>(chain.graph.operation(parts[1]).attributes[0].value) == 750);
  CHECK(chain.graph.predecessors(parts[1]) == Ids{parts[0]});
  CHECK(chain.graph.predecessors(chain.c) == Ids{parts[1]});
  CHECK(chain.graph.total_seconds() == 6);
  CHECK_THROWS_AS(chain.graph.split(chain.c, std::array{0.5, 0.4}), ValueError);
  CHECK_THROWS_AS(chain.graph.split(chain.c, std::array{1.5, -0.5}), ValueError);
}

TEST_CASE("merged operations are one that waits for what each waited for") {
  Chain chain;
  const auto d = chain.graph.add({"d", "forward", chain.lane, 4}, {chain.a});
  const auto e = chain.graph.add({"e", "forward", chain.lane, 5}, {d});
  CHECK(chain.graph.merge(std::array{chain.b, d}) == chain.b);
  CHECK(chain.graph.operation(chain.b).seconds == 6);
  CHECK(chain.graph.predecessors(chain.b) == Ids{chain.a});
  CHECK(chain.graph.successors(chain.b) == Ids{chain.c, e});
  CHECK_FALSE(chain.graph.has(d));
  CHECK(chain.graph.size() == 4);
}

TEST_CASE("operations with another one on the way between them cannot become one") {
  Chain chain;
  const auto d = chain.graph.add({"d", "forward", chain.lane, 4}, {chain.c});
  CHECK_THROWS_WITH(chain.graph.merge(std::array{chain.a, d}),
                    Catch::Contains("'d' waits for 'c', which waits for one of them"));
  CHECK(chain.graph.size() == 4);
}

TEST_CASE("what waited for a removed operation waits for what that waited for") {
  Chain chain;
  chain.graph.remove(chain.b);
  CHECK(chain.graph.predecessors(chain.c) == Ids{chain.a});
  CHECK(chain.graph.ids() == Ids{chain.a, chain.c});
  CHECK_THROWS_AS(chain.graph.operation(chain.b), ValueError);
}

TEST_CASE("a cost model makes seconds of rules alone") {
  Chain chain;
  chain.graph.edit(chain.b).rule = CostRule{"ring", 1e9, 4};
  price(chain.graph, [](const Operation& each) { return each.rule->bytes / 1e8; });
  CHECK(chain.graph.operation(chain.b).seconds == 10);
  CHECK(chain.graph.operation(chain.a).seconds == 1);
}

}  // namespace
}  // namespace d5
