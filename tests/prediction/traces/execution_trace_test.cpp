// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/traces/execution_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/graph/operation_graph_file.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "tests/prediction/simple_cluster.hpp"
#include "tests/prediction/traces/chakra_bytes.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::NodeBytes;
using testing::trace_bytes;

ChakraTrace read(const std::vector<NodeBytes>& nodes) {
  return execution_trace_from_chakra(trace_bytes(nodes), "toy.3.et");
}

/// The value of an operation's attribute, as text; empty: there is none.
std::string attribute_of(const Operation& operation, const std::string& name) {
  for (const TraceArgument& each : operation.attributes) {
    if (each.name != name) continue;
    return std::visit([](const auto& value) { return fmt::format("{}", value); }, each.value);
  }
  return "";
}

bool are_equal(const ChakraTrace& one, const ChakraTrace& other) {
  return to_json(one.graph) == to_json(other.graph) && one.metadata == other.metadata;
}

TEST_CASE("a trace is a graph of its nodes, with recorded times") {
  const ChakraTrace trace = read(testing::small_nodes());
  const OperationGraph& graph = trace.graph;
  REQUIRE(graph.size() == 4);
  CHECK(graph.name() == "toy.3");
  const std::vector<OperationLane> lanes = {{3, "thread 1"}, {3, "stream 7"}, {3, "network"}};
  CHECK(graph.lanes() == lanes);
  std::vector<std::string> kinds;
  std::vector<double> seconds;
  for (const auto id : graph.ids()) {
    kinds.push_back(graph.operation(id).kind);
    seconds.push_back(graph.operation(id).seconds);
    CHECK_FALSE(graph.operation(id).rule);
  }
  CHECK(kinds == std::vector<std::string>{"compute", "compute", "compute", "all_reduce"});
  CHECK(seconds == std::vector<double>{1e-4, 3e-4, 2e-5, 5e-4});
  CHECK(graph.predecessors(3) == std::vector<OperationGraph::Id>{1, 2});
  CHECK(attribute_of(graph.operation(0), "chakra.inputs.shapes") == "[[2, 2]]");
  CHECK(attribute_of(graph.operation(3), "chakra.attr.involved_dim") ==
        "bool_list { values: true values: false }");
  CHECK(trace.metadata == std::vector<TraceArgument>{{"schema", "1.0.1"}});
  CHECK(schedule(graph).seconds == Approx(9e-4));  // product, kernel, all-reduce
  REQUIRE(trace.notes.size() == 2);
  CHECK_THAT(trace.notes[0], Contains("collectives without comm_size: 1;"));
  CHECK_THAT(trace.notes[1], Contains("no operation waits for: 1;"));
}

TEST_CASE("a trace is written byte by byte as it was read") {
  const std::string bytes = trace_bytes(testing::small_nodes());
  CHECK(to_chakra(execution_trace_from_chakra(bytes, "toy.0.et")) == bytes);
}

TEST_CASE("the cluster prices communication, and computing is scaled") {
  const ChakraTrace trace = read(testing::small_nodes());
  PlannedTraining plan{.cluster = simple_cluster(8)};
  plan.training.batch = 4;
  const auto points = predict_execution_trace(trace, plan, std::vector{1, 2, 4});
  REQUIRE(points.size() == 3);
  for (const PredictedPoint& point : points) {  // what the trace does not say stays a doubt
    CHECK_THAT(point.mistrusted, Contains("no operation waits for: 1, ") &&
                                     Contains("collectives without comm_size: 1, "));
  }
  const auto ring = [](int n) {
    return 2 * (n - 1) * kSimpleLatency + 2 * (n - 1) * 8e6 / n / kSimpleBandwidth;
  };
  CHECK(points[0].step == Approx(4e-4));
  CHECK(points[1].step == Approx(4e-4 + ring(2)));
  CHECK(points[2].step == Approx(4e-4 + ring(4)));
  CHECK(points[2].exposed == Approx(ring(4)));
  CHECK(points[2].efficiency == Approx(4e-4 / points[2].step));
  CHECK(points[2].throughput == Approx(16 / points[2].step));
  CHECK(points[2].bytes == 12'000'000);
  CHECK(points[2].bound_by == "bandwidth");
  CHECK(points[0].bound_by == "computing");
  const EntryChoice faster{"compute", {{"factor", 2}}};
  apply_strategies({&faster, 1}, plan);
  CHECK(predict_execution_trace(trace, plan, std::vector{2})[0].step == Approx(2e-4 + ring(2)));
  plan.training.scheme.settings.set("all_reduce", "recursive_doubling");
  CHECK(predict_execution_trace(trace, plan, std::vector{4})[0].step ==
        Approx(2e-4 + 2 * (kSimpleLatency + 8e6 / kSimpleBandwidth)));
}

TEST_CASE("a trace keeps its own messages, whatever a strategy says") {
  const ChakraTrace trace = read(testing::small_nodes());
  for (const char* name : {"buckets", "fusion", "priority", "parameter_server", "engine"}) {
    PlannedTraining plan{.cluster = simple_cluster(8)};
    EntryChoice choice{name};
    if (choice.name == "buckets") choice.settings.set("bytes", 1024);
    if (choice.name == "engine") choice.settings.set("model", "closed");
    apply_strategies({&choice, 1}, plan);
    INFO(name);
    CHECK_THROWS_AS(predict_execution_trace(trace, plan, std::vector{2}), ValueError);
    CHECK_THROWS_WITH(predict_execution_trace(trace, plan, std::vector{2}),
                      Contains("expected the strategies compute and wire"));
  }
  const PlannedTraining plan{.cluster = simple_cluster(8)};
  CHECK_THROWS_AS(predict_execution_trace(trace, plan, std::vector<int>{}), ValueError);
  CHECK_THROWS_AS(predict_execution_trace(trace, plan, std::vector{9}), ValueError);
  CHECK_THROWS_WITH(predict_execution_trace(read({{.id = 1}}), plan, std::vector{2}),
                    Contains("no operation takes time"));
}

TEST_CASE("a message without comm_size takes its recorded time, and is mistrusted") {
  const PlannedTraining plan{.cluster = simple_cluster(8)};
  const auto point =
      predict_execution_trace(read({{.id = 1, .type = 5, .micros = 70}}), plan, std::vector{2})[0];
  CHECK(point.step == Approx(7e-5));
  CHECK_THAT(point.mistrusted, Contains("1 messages without comm_size"));
}

TEST_CASE("a barrier communicates without bytes, a host's call does not communicate") {
  const ChakraTrace trace =
      read({{.id = 1, .type = 7, .micros = 9, .rest = testing::whole("comm_type", 9)},
            {.id = 2, .type = 7, .micros = 9, .rest = testing::whole("comm_type", 0)}});
  CHECK(trace.graph.operation(0).kind == "barrier");
  CHECK(trace.graph.operation(1).kind == "compute");
  const PlannedTraining plan{.cluster = simple_cluster(8)};
  CHECK(graph_on_cluster(trace, 5, plan).operation(0).seconds == Approx(3 * kSimpleLatency));
}

TEST_CASE("control dependencies order a replay where they can, and are never lost") {
  const auto two = [](std::vector<std::uint64_t> control, std::vector<std::uint64_t> data) {
    return read({{.id = 5, .name = "a", .micros = 10},
                 {.id = 6, .name = "b", .control = std::move(control), .data = std::move(data)}});
  };
  const auto ordered = two({5}, {});
  CHECK(ordered.graph.predecessors(1) == std::vector<OperationGraph::Id>{0});
  CHECK(ordered.notes.empty());
  for (const auto& control : std::vector<std::vector<std::uint64_t>>{{77}, {6}, {5, 77}}) {
    const ChakraTrace kept = two(control, {});
    CHECK(kept.graph.predecessors(1).empty());
    REQUIRE(kept.notes.size() == 1);
    CHECK_THAT(kept.notes[0], Contains("order nothing"));
  }
  const ChakraTrace circle = read({{.id = 5, .control = {6}}, {.id = 6, .control = {5}}});
  CHECK(circle.graph.predecessors(0).empty());
  REQUIRE(circle.notes.size() == 1);
  CHECK_THAT(circle.notes[0], Contains("close a cycle"));
  for (const ChakraTrace& each :
       {ordered, two({5}, {5}), two({77}, {5}), two({6, 5}, {5}), two({77, 5}, {5}), circle}) {
    const std::string bytes = to_chakra(each);
    CHECK(are_equal(execution_trace_from_chakra(bytes, "toy.3.et"), each));
  }
  CHECK(to_chakra(two({5}, {5})) ==
        trace_bytes({{.id = 5, .name = "a", .micros = 10},
                     {.id = 6, .name = "b", .control = {5}, .data = {5}}}));
}

TEST_CASE("data of nodes that the trace lacks is kept by name, and noted") {
  const ChakraTrace trace =
      read({{.id = 1, .micros = 3, .rest = {}}, {.id = 2, .data = {9, 1, 1}}});
  CHECK(attribute_of(trace.graph.operation(1), "chakra.missing_data_deps") == "9");
  CHECK(trace.graph.predecessors(1).size() == 1);
  REQUIRE(trace.notes.size() == 2);
  CHECK_THAT(trace.notes[0], Contains("data dependencies on nodes that the trace lacks: 1;"));
  CHECK_THAT(trace.notes[1], Contains("data dependencies that stand twice: 1;"));
  CHECK(are_equal(execution_trace_from_chakra(to_chakra(trace), "toy.3.et"), trace));
}

TEST_CASE("attributes of every type are kept") {
  using namespace testing;  // NOLINT: words of the wire format
  const std::string nan = std::string("\x01\x00\x00\x00\x00\x00\xf8\x7f", 8);
  std::string rest = whole("negative", std::uint64_t(-5)) + whole("large", std::uint64_t{1} << 62) +
                     attribute("empty", "") + attribute("real", real(3, 0.1)) +
                     attribute("infinite", real(3, HUGE_VAL)) +
                     attribute("text", bytes(29, "x \"y\"\n")) +
                     attribute("float", fixed32(5, 0x3dcccccd)) +
                     attribute("unsigned", number(13, ~std::uint64_t{0})) +
                     attribute("signed", number(17, 9)) + attribute("fixed", fixed64(21, 7)) +
                     attribute("bytes", bytes(31, std::string("\x00\xff", 2))) +
                     attribute("texts", bytes(30, bytes(1, "a") + bytes(1, ""))) +
                     attribute("reals", bytes(4, bytes(1, nan))) +
                     attribute("none", bytes(10, "")) + attribute("chakra.id", bytes(29, "mine")) +
                     attribute("documented", bytes(2, "why") + number(9, 1)) +
                     attribute("d5_seconds", bytes(29, "a text"));
  const ChakraTrace trace = read({{.id = ~std::uint64_t{0}, .micros = 1, .rest = rest}});
  const Operation& operation = trace.graph.operation(0);
  CHECK(attribute_of(operation, "chakra.id") == "18446744073709551615");
  CHECK(attribute_of(operation, "negative") == "-5");
  CHECK(attribute_of(operation, "chakra.attr.large") == "int64_val: 4611686018427387904");
  CHECK(attribute_of(operation, "real") == "0.1");
  CHECK(attribute_of(operation, "text") == "x \"y\"\n");
  CHECK(attribute_of(operation, "chakra.attr.unsigned") == "uint64_val: 18446744073709551615");
  CHECK(attribute_of(operation, "chakra.attr.chakra.id") == "string_val: \"mine\"");
  CHECK(attribute_of(operation, "chakra.attr.documented") == "doc_string: \"why\" int64_val: 1");
  CHECK(operation.attributes.size() == 2 + 17);
  const ChakraTrace again = execution_trace_from_chakra(to_chakra(trace), "toy.3.et");
  CHECK(are_equal(again, trace));
  CHECK(to_json(operation_graph_from_json(to_json(trace.graph), "g.json")) == to_json(trace.graph));
}

TEST_CASE("an error in a trace has its place") {
  const std::string good = trace_bytes(testing::small_nodes());
  const auto [nodes, says] = GENERATE(table<std::vector<NodeBytes>, std::string>({
      {{{.id = 1}, {.id = 1}}, "message 2 at byte"},
      {{{.id = 1}, {.id = 1}}, "node 1 ('') is there already; expected each id once"},
      {{{.id = 1, .type = 0}}, "type 0; expected 1 (METADATA_NODE) to 7"},
      {{{.id = 1, .type = 8}}, "type 8"},
      {{{.id = 1, .data = {1}}}, "waits for its own data"},
      {{{.id = 1, .data = {2}}, {.id = 2, .data = {1}}}, "have a cycle"},
      {{{.id = 1, .type = 7, .rest = testing::whole("comm_size", 8)}}, "has no comm_type"},
      {{{.id = 1,
         .type = 7,
         .rest = testing::whole("comm_size", 8) + testing::whole("comm_type", 10)}},
       "comm_type 10; expected 0 (ALL_REDUCE) to 9"},
      {{{.id = 1, .rest = testing::number(11, 1)}}, "fields that the schema lacks"},
      {{{.id = 1, .name = "\xff"}}, "a text that is not UTF-8"},
      {{{.id = 1, .micros = std::uint64_t{1} << 62}}, "35 years"},
      {{{.id = 1, .micros = 3, .rest = testing::attribute("d5_seconds", testing::real(3, 1))}},
       "times that agree"},
      {{{.id = 1, .rest = testing::attribute("d5_kind", testing::bytes(29, "forwrd"))}}, "forward"},
      {{{.id = 1, .rest = testing::whole("d5_ranks", 2)}}, "a part of a rule"},
      {{{.id = 1, .rest = testing::whole("d5_rank", 2)}}, "no d5_kind"},
  }));
  CAPTURE(says);
  CHECK_THROWS_AS(read(nodes), FormatError);
  CHECK_THROWS_WITH(read(nodes), Contains(says) && Contains("toy.3.et"));
  CHECK_THROWS_AS(execution_trace_from_chakra("", "toy.et"), FormatError);
  CHECK_THROWS_WITH(execution_trace_from_chakra(good.substr(0, good.size() - 1), "toy.et"),
                    Contains("cut off"));
  CHECK_THROWS_AS(read_execution_trace("/nowhere/toy.0.et"), IoError);
}

TEST_CASE("a trace that is cut off or has a flipped bit is an error, or reads back equal") {
  const std::string sound = trace_bytes(testing::small_nodes());
  std::vector<std::string> damaged;
  for (std::size_t i = 0; i < sound.size(); ++i) {
    damaged.push_back(sound.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      damaged.push_back(sound);
      damaged.back()[i] = static_cast<char>(damaged.back()[i] ^ (1 << bit));
    }
  }
  std::size_t read_back = 0;
  for (const std::string& bytes : damaged) {
    try {
      const ChakraTrace trace = execution_trace_from_chakra(bytes, "toy.3.et");
      CHECK(are_equal(execution_trace_from_chakra(to_chakra(trace), "toy.3.et"), trace));
      (void)execution_trace_table(trace);
      ++read_back;
    } catch (const FormatError&) {
    }
  }
  CHECK(read_back > 0);
  CHECK(read_back < damaged.size());
}

TEST_CASE("a graph of d5's own is a trace, and reads back equal") {
  OperationGraph graph("step.0");
  const auto compute = graph.lane(0, "compute");
  const auto network = graph.lane(OperationLane::kShared, "network", 2);
  const auto forward = graph.add({"fc", "forward", compute, 1.0 / 3});
  const auto back = graph.add({"fc", "backward", compute, 2e-3}, {forward});
  graph.add({"bucket 0",
             "reduce_scatter",
             network,
             1e-7,
             -4,
             CostRule{"ring", 1e6, 8},
             {{"bytes", std::int64_t{1000}}, {"share", 0.5}, {"text", "x"}}},
            {back, forward});
  const testing::TemporaryFolder folder;
  write_execution_trace({.graph = graph}, folder / "step.0.et");
  const ChakraTrace again = read_execution_trace(folder / "step.0.et");
  CHECK(to_json(again.graph) == to_json(graph));
  REQUIRE(again.notes.size() == 1);
  CHECK_THAT(again.notes[0], Contains("no operation waits for: 1;"));
  const std::string bytes = read_file(folder / "step.0.et");
  CHECK_THAT(bytes, Contains("comm_type") &&
                        Contains(testing::bytes(1, "comm_size") + testing::number(9, 1'000'000)));
  const PlannedTraining plan{.cluster = simple_cluster(8)};
  CHECK(graph_on_cluster(again, 4, plan).operation(2).seconds ==
        Approx(3 * kSimpleLatency + 0.75e6 / kSimpleBandwidth));
  ChakraTrace joined = read({{.id = 2, .data = {0, 1}, .rest = {}}});
  joined.graph.add({"new", "update", joined.graph.lane(3, "compute"), 1e-3}, {0});
  const ChakraTrace of_both = execution_trace_from_chakra(to_chakra(joined), "toy.3.et");
  CHECK(of_both.graph.operation(1).kind == "update");
  CHECK(of_both.graph.predecessors(1) == std::vector<OperationGraph::Id>{0});
  CHECK(attribute_of(of_both.graph.operation(0), "chakra.missing_data_deps") == "0 1");

  graph.retime(forward, 1e12);
  CHECK_THROWS_AS(to_chakra({.graph = graph}), ValueError);
  graph.retime(forward, 1);
  graph.edit(forward).attributes = {{"chakra.unheard", "x"}};
  CHECK_THROWS_AS(to_chakra({.graph = graph}), ValueError);
}

TEST_CASE("a trace that PyTorch recorded is read, predicted and written as it was") {
  const char* data = std::getenv("D5_DATA_DIR");
  const std::string file = std::string(data ? data : "") + "/chakra/chakra.0.et";
  if (!data || !std::filesystem::exists(file)) {
    WARN("skipped: needs D5_DATA_DIR with chakra");
    return;
  }
  const ChakraTrace trace = read_execution_trace(file);
  // Counts of a decoder in Python that knows the wire format alone.
  const OperationGraph& graph = trace.graph;
  REQUIRE(graph.size() == 3664);
  std::size_t data_edges = 0;
  double recorded = 0;
  for (const auto id : graph.ids()) {
    data_edges += graph.predecessors(id).size();
    recorded += graph.operation(id).seconds;
  }
  CHECK(data_edges == 181'878);
  CHECK(recorded == Approx(0.381795));
  const auto with = [&](const std::string& kind) {
    return graph.find([&](const Operation& each) { return each.kind == kind; }).size();
  };
  CHECK(with("all_reduce") == 5);
  CHECK(with("broadcast") == 2);
  CHECK(with("compute") == 3657);
  REQUIRE(trace.notes.size() == 3);
  CHECK_THAT(trace.notes[0],
             Contains("control dependencies: 3664;") &&
                 Contains("1277 name nodes that the trace lacks, and 383 the node"));
  CHECK_THAT(trace.notes[1],
             Contains("collectives without comm_size: 14;") && Contains("7 with one communicate"));
  CHECK(to_chakra(trace) == read_file(file));

  CHECK_THAT(trace.notes[2], Contains("no operation waits for: 7;"));

  const auto communication = [](const OperationGraph& on) {
    double seconds = 0, bytes = 0;
    for (const auto id : on.ids()) {
      if (!on.operation(id).rule) continue;
      seconds += on.operation(id).seconds;
      bytes += on.operation(id).rule->bytes;
    }
    CHECK(bytes == 212'480 + 424 + 8'196'000 + 31'502'336 + 26'255'360 + 26'550'272 + 9'724'160);
    return seconds;
  };
  double before = 0;
  for (const ClusterDescription& cluster :
       {load_cluster_description("h100-pod"), load_cluster_description("ethernet-10g"),
        cluster_of_wire("50us,100MB/s")}) {
    CAPTURE(cluster.name);
    const PlannedTraining plan{.cluster = cluster};
    const auto points = predict_execution_trace(trace, plan, std::vector{1, 16});
    ChakraTrace predicted = trace;
    predicted.graph = graph_on_cluster(trace, 16, plan);
    const double communicated = communication(predicted.graph);
    CHECK(communicated > before);  // each cluster is slower than the one before
    before = communicated;
    CHECK(points[0].step == Approx(0.295545));  // as a list scheduler in Python has it
    CHECK(points[1].step >= std::max(points[0].step, communicated));
    CHECK(are_equal(execution_trace_from_chakra(to_chakra(predicted), "chakra.0.et"), predicted));
    const EntryChoice faster{"compute", {{"factor", 4}}};
    PlannedTraining fast = plan;
    apply_strategies({&faster, 1}, fast);
    CHECK(predict_execution_trace(trace, fast, std::vector{1})[0].step ==
          Approx(points[0].step / 4));
  }
}

}  // namespace
}  // namespace d5
