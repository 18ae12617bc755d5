// SPDX-License-Identifier: Apache-2.0
// Strategies on graphs and profiles small enough to compute by hand, and compared with simulated
// ranks.
#include "d5/prediction/training/prediction_strategy.hpp"

#include <catch2/catch.hpp>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"
#include "d5/prediction/training_graphs/closed_cost.hpp"
#include "d5/prediction/training_graphs/graph_training.hpp"
#include "prediction/training/compressor_probe.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Id = OperationGraph::Id;

/// One second per byte of a sum, half a second for negotiation.
double by_hand(const Operation& operation) {
  return operation.kind == "negotiation" ? 0.5 : operation.rule->bytes;
}

/// Two layers: forward 1 s each, backward 1 s each, the second layer's gradient of 3 bytes and then
/// the first one's of 1.
PlannedGraph rewritten_layers() {
  PlannedGraph plan{.graph = OperationGraph("two layers"), .ranks = 2, .cost = by_hand};
  OperationGraph& graph = plan.graph;
  const std::size_t compute = graph.lane(0, "compute"), port = graph.lane(0, "network");
  Operation first{"first", "forward", compute, 1}, second{"second", "forward", compute, 1};
  set_buckets(first, {1, 1});
  set_buckets(second, {0, 0});
  const Id a = graph.add(first), b = graph.add(second, {a});
  const Id back_b = graph.add({"second", "backward", compute, 1}, {b});
  const Id back_a = graph.add({"first", "backward", compute, 1}, {back_b});
  const auto sum = [&](std::int64_t bucket, double bytes, Id after) {
    Operation operation{"sum", "all_reduce", port, 0, -bucket, CostRule{"ring", bytes, 2}};
    set_buckets(operation, {bucket, bucket});
    graph.add(std::move(operation), {after});
  };
  sum(0, 3, back_b);
  sum(1, 1, back_a);
  return plan;
}

void rewrite(const std::string& words, PlannedGraph& graph) {
  const EntryChoice choice = entry_of_words("prediction strategy", words);
  PlannedTraining plan;
  apply_strategies({&choice, 1}, plan);
  REQUIRE(plan.training.rewrites.size() == 1);
  plan.training.rewrites.front().change(graph);
}

TEST_CASE("what is needed first goes first, and the next step begins when that is there") {
  PlannedGraph plan = rewritten_layers();
  // In order: 3 bytes from 3 s on, one more from 6 s on.
  CHECK(predict_steady_step(plan).seconds == Approx(7));
  // The first layer's byte overtakes after a partition; its forward runs beside the last 2 of the
  // other's, for which the second layer waits: 2 + 1 + 1, then the byte, then 2 again.
  rewrite("priority:bytes=1", plan);
  CHECK(predict_steady_step(plan).seconds == Approx(6));
  CHECK(plan.graph.find([](const Operation& each) { return each.kind == "all_reduce"; }).size() ==
        4);
  // In one piece nothing overtakes it: as in order.
  PlannedGraph whole = rewritten_layers();
  rewrite("priority:bytes=100", whole);
  CHECK(predict_steady_step(whole).seconds == Approx(7));
}

/// Gradients of one byte, final at these times.
PlannedGraph gradients_at(const std::vector<double>& times) {
  PlannedGraph plan{
      .graph = OperationGraph("gradients"), .ranks = 2, .cost = [](const Operation& each) {
        return each.kind == "negotiation" ? 0.5 : 1 + each.rule->bytes;
      }};
  OperationGraph& graph = plan.graph;
  const std::size_t compute = graph.lane(0, "compute"), port = graph.lane(0, "network");
  Id last = OperationGraph::kNone;
  double before = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Operation back{"node", "backward", compute, times[i] - before};
    before = times[i];
    last = last == OperationGraph::kNone ? graph.add(back) : graph.add(back, {last});
    const auto bucket = static_cast<std::int64_t>(i);
    Operation sum{"sum", "all_reduce", port, 0, -bucket, CostRule{"ring", 1, 2}};
    set_buckets(sum, {bucket, bucket});
    graph.add(std::move(sum), {last});
  }
  return plan;
}

TEST_CASE("fusion looks once a cycle, and sums together what is ready and fits") {
  const auto sums = [](const PlannedGraph& plan) {
    std::vector<double> bytes;
    for (const Id id : plan.graph.ids()) {
      const Operation& each = plan.graph.operation(id);
      if (each.kind == "all_reduce") bytes.push_back(each.rule->bytes);
    }
    return bytes;
  };
  // Ready at the look at 2 s: two, agreed on at 2.5, summed at 5.5, when it looks again: the third,
  // until 8; then the fourth: 8.5 + 2.
  PlannedGraph two = gradients_at({1, 2, 3, 7});
  rewrite("fusion:bytes=2:cycle=2", two);
  CHECK(sums(two) == std::vector<double>{2, 1, 1});
  CHECK(predict_steady_step(two).seconds == Approx(10.5));
  // One at a time: 2.5 to 6.5, a look, 7 to 9, a look, 9.5 to 11.5.
  PlannedGraph one = gradients_at({1, 2, 3, 7});
  rewrite("fusion:bytes=1:cycle=2", one);
  CHECK(sums(one) == std::vector<double>{1, 1, 1, 1});
  CHECK(predict_steady_step(one).seconds == Approx(11.5));
  // A long cycle takes all at once: 8.5 + 5.
  PlannedGraph all = gradients_at({1, 2, 3, 7});
  rewrite("fusion:cycle=8", all);
  CHECK(sums(all) == std::vector<double>{4});
  CHECK(predict_steady_step(all).seconds == Approx(13.5));
}

/// Two layers of a node each, 10 ms each way; the second one's gradient, of 30 MB, is final first,
/// then the first one's of 10 MB.
TrainingProfile two_nodes() {
  TrainingProfile profile{.model = "two nodes", .framework = "none"};
  profile.parameters = {{"second.weight", 30e6}, {"first.weight", 10e6}};
  profile.pieces = {{.name = "first", .kind = "forward"},
                    {.name = "second", .kind = "forward"},
                    {.name = "second", .kind = "backward", .final_parameters = {0}},
                    {.name = "first", .kind = "backward", .final_parameters = {1}},
                    {.name = "second.weight", .kind = "update"},
                    {.name = "first.weight", .kind = "update"}};
  TrainingProfile::Times times{.batch = 8};
  times.seconds.assign(6, std::vector<double>(4, 0.010));
  times.seconds[4].assign(4, 0.0);
  times.seconds[5].assign(4, 0.0);
  times.gaps.assign(6, std::vector<double>(4, 0.0));
  times.steps.assign(4, 0.040);
  profile.batches = {times};
  return profile;
}

/// 1 GB/s and no latency: a ring of 2 ranks sends a bucket's bytes once.
ClusterDescription fast_cluster() {
  ClusterDescription cluster = simple_cluster(64);
  cluster.latency.value = 0;
  return cluster;
}

SimulatedTraining trained(const std::vector<EntryChoice>& chain, int ranks = 2) {
  PlannedTraining plan{
      {.batch = 8,
       .scheme = {"consistent_decentralized", {{"all_reduce", "ring"}, {"bucket_bytes", 1}}}},
      fast_cluster()};
  plan.training.simulation.progress = SimulatedProgressRule::thread;
  apply_strategies(chain, plan);
  return simulate_training(two_nodes(), ranks, plan.cluster, plan.training);
}

TEST_CASE(
    "strategies of a profile are chained, and those before one that needs the graph are in it") {
  CHECK(trained({}).step == Approx(0.070).epsilon(1e-3));
  CHECK(trained({{"priority", {{"bytes", 10'000'000}}}}).step == Approx(0.060).epsilon(1e-6));
  CHECK(trained({{"buckets", {{"bytes", 100'000'000}}}, {"priority", {{"bytes", 10'000'000}}}})
            .step == Approx(0.080).epsilon(1e-6));
  const auto faster =
      trained({{"compute", {{"factor", 2}}}, {"priority", {{"bytes", 10'000'000}}}});
  CHECK(faster.computed == Approx(0.020));
  CHECK(faster.step < 0.060);
  CHECK(trained({{"priority", {}}}, 1).step == Approx(0.040));
}

TEST_CASE("graph and simulated ranks agree within 2% where level 3 has the scheme") {
  const int n = GENERATE(2, 4, 8);
  const auto [strategy, settings] = GENERATE(table<std::string, Settings>({
      {"buckets", {{"bytes", 1}}},
      {"buckets", {{"bytes", 40'000'000}}},
      {"parameter_server", {}},
      {"compute", {{"factor", 2}}},
      {"wire", {{"bandwidth", 0.5}}},
  }));
  const EntryChoice choice{strategy, settings};
  CAPTURE(n, strategy);
  PlannedTraining plan{
      {.batch = 8,
       .scheme = {"consistent_decentralized", {{"all_reduce", "ring"}, {"bucket_bytes", 1}}}},
      simple_cluster(64)};
  plan.training.simulation.progress = SimulatedProgressRule::thread;
  apply_strategies({&choice, 1}, plan);
  const double simulated = simulate_training(two_nodes(), n, plan.cluster, plan.training).step;
  const double graph =
      predict_steady_step(planned_graph(two_nodes(), n, plan.cluster, plan.training)).seconds;
  CHECK(graph == Approx(simulated).epsilon(0.02));
}

TEST_CASE(
    "fusion that gathers what buckets do is within 2% of simulated ranks with these buckets") {
  const int n = GENERATE(2, 4, 8);
  // Gradients are final at 30 and 40 ms: looks each 10 ms find one and then the other, a look at
  // 40 ms finds both.
  const auto [cycle, bytes] = GENERATE(table<double, int>({{0.010, 1}, {0.040, 40'000'000}}));
  CAPTURE(n, cycle);
  const double graph = trained({{"fusion", {{"cycle", cycle}, {"negotiation_bytes", 0}}}}, n).step;
  CHECK(graph == Approx(trained({{"buckets", {{"bytes", bytes}}}}, n).step).epsilon(0.02));
}

TEST_CASE("compression puts its work before and after its calls") {
  // 40 MB in float16: 20 MB over the ring of two, 4 ms before each byte's sum, 2 x 1 ms after it.
  const auto training = trained({{"buckets", {{"bytes", 100'000'000}}},
                                 {"compression",
                                  {{"compressor", "float16"},
                                   {"compress_bandwidth", 10e9},
                                   {"decompress_bandwidth", 40e9}}}});
  CHECK(training.step == Approx(0.040 + 0.004 + 0.020 + 2 * 0.001).epsilon(1e-6));
}

TEST_CASE("a compressor's calls, as they are probed, take what they take simulated ranks") {
  const std::string name = GENERATE("float16", "int8", "sign", "top_k", "terngrad");
  CAPTURE(name);
  const detail::CompressorCost cost = detail::probe_compressor({name});
  REQUIRE_FALSE(cost.calls.empty());
  CHECK(cost.compress + cost.decompress > 0);  // either rounds to 0 where the other is long
  const int n = 4;
  const std::int64_t side = 512;
  const double bytes = 4.0 * double(side * side);
  double expected = 0;
  for (const auto& call : cost.calls) {
    const std::string algorithm = call.kind == "all_reduce" && name == "float16" ? "ring" : "mpi";
    expected += closed_seconds(call.kind, {algorithm, call.share * bytes, n}, simple_cluster(n));
  }
  // Real numbers: what is sent may depend on them. Where ports make messages wait for each other,
  // each to each at once takes longer.
  SimulationOptions options;
  options.model = {"closed"};
  const double took =
      run_simulated(
          n, simple_cluster(n),
          [&](SimulatedRank& self, const std::shared_ptr<Communicator>& ranks) {
            const auto compressor = gradient_compressors().at(name).make();
            const auto ring = all_reduces().at("ring").make();
            Tensor value = Tensor::empty(DType::float32, {side * side});
            RandomStream random(5, std::uint64_t(self.rank()));
            for (float& x : value.span<float>()) x = float(random.normal());
            const GradientPart whole{0, {side, side}};
            compressor->start(*ranks, *ring, value, {}, {.parts = {&whole, 1}})->wait();
          },
          options)
          .seconds;
  CHECK(took == Approx(expected).epsilon(0.02));
}

TEST_CASE("there is a graph of what the scheme is known to do, and of nothing else") {
  PlannedTraining plan{{.batch = 8, .scheme = {"stale_synchronous", {}}}, fast_cluster()};
  const EntryChoice priority{"priority", {}};
  apply_strategies({&priority, 1}, plan);
  CHECK_THROWS_AS(simulate_training(two_nodes(), 2, plan.cluster, plan.training), Unsupported);
}

}  // namespace
}  // namespace d5
