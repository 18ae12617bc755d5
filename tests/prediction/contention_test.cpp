// SPDX-License-Identifier: Apache-2.0
// Contention by made-up overlap maps: times that a person can add up, on graphs and on simulated
// ranks, and both against each other.
#include <catch2/catch.hpp>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/profile/contention_map.hpp"
#include "d5/prediction/training/local_prediction.hpp"
#include "d5/prediction/training/predicted_curve.hpp"
#include "d5/prediction/training_graphs/graph_training.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

/// 1 GB/s and no latency: two ranks exchange a byte in 1 ns.
ClusterDescription contended_cluster() {
  ClusterDescription cluster = simple_cluster(64);
  cluster.latency.value = 0;
  return cluster;
}

/// Seconds at which computations of `computed`, one after the other, end on each of two ranks that
/// exchange messages of `bytes` meanwhile, and at which the exchange has ended too.
struct Ends {
  double computing = 0, both = 0;
};
Ends ends_of(std::int64_t bytes, const std::vector<std::pair<double, Slowdown>>& computed) {
  Ends ends;
  (void)run_simulated(
      2, contended_cluster(), [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks) {
        Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
        const auto call = all_reduces().at("recursive_doubling").make()->start(*ranks, data);
        for (const auto& [seconds, slowdown] : computed) {
          rank.spend(seconds, slowdown);
        }
        if (rank.rank() == 0) ends.computing = rank.now();
        call->wait();
        if (rank.rank() == 0) ends.both = rank.now();
      });
  return ends;
}

/// The same on a graph.
Ends graph_ends_of(std::int64_t bytes, const std::vector<std::pair<double, Slowdown>>& computed) {
  OperationGraph graph("overlap");
  const std::size_t compute = graph.lane(0, "compute"), port = graph.lane(0, "network");
  OperationGraph::Id last = OperationGraph::kNone;
  for (const auto& [seconds, slowdown] : computed) {
    Operation kernel{"kernel", "backward", compute, seconds};
    set_slowdown(kernel, slowdown);
    const bool is_first = last == OperationGraph::kNone;
    last = is_first ? graph.add(std::move(kernel)) : graph.add(std::move(kernel), {last});
  }
  graph.add({"sum", "all_reduce", port, double(bytes) / kSimpleBandwidth});
  const OperationSchedule times = schedule(graph);
  return {times.end[last], times.seconds};
}

TEST_CASE("computing and an all-reduce of 10 ms each slow each other until one of them ends") {
  // The all-reduce ends at 15 ms; 7.5 of the 10 ms are computed then, and 2.5 are left.
  const std::vector<std::pair<double, Slowdown>> computed = {{10e-3, {2, 1.5}}};
  CHECK(graph_ends_of(10'000'000, computed).computing == Approx(17.5e-3));
  CHECK(graph_ends_of(10'000'000, computed).both == Approx(17.5e-3));
  CHECK(ends_of(10'000'000, computed).computing == Approx(17.5e-3));
  CHECK(ends_of(10'000'000, computed).both == Approx(17.5e-3));
}

TEST_CASE("an all-reduce goes on at full speed when the rank has computed") {
  // Computing ends at 10 ms; 10 / 1.5 of the 20 ms are summed then.
  const std::vector<std::pair<double, Slowdown>> computed = {{5e-3, {2, 1.5}}};
  const double end = 10e-3 + (20e-3 - 10e-3 / 1.5);
  CHECK(graph_ends_of(20'000'000, computed).computing == Approx(10e-3));
  CHECK(graph_ends_of(20'000'000, computed).both == Approx(end));
  CHECK(ends_of(20'000'000, computed).computing == Approx(10e-3));
  CHECK(ends_of(20'000'000, computed).both == Approx(end));
}

TEST_CASE("each kernel has its own slowdown, piece by piece") {
  // To 20 ms: 20 / 1.5 of the all-reduce. To 32 ms: 12 / 3. The rest alone.
  const std::vector<std::pair<double, Slowdown>> computed = {{10e-3, {2, 1.5}}, {10e-3, {1.2, 3}}};
  const double end = 32e-3 + (20e-3 - 20e-3 / 1.5 - 12e-3 / 3);
  for (const Ends& ends : {ends_of(20'000'000, computed), graph_ends_of(20'000'000, computed)}) {
    CHECK(ends.computing == Approx(32e-3));
    CHECK(ends.both == Approx(end));
  }
}

TEST_CASE("a kernel may also make an all-reduce faster, as noise of a map says") {
  const std::vector<std::pair<double, Slowdown>> computed = {{10e-3, {1, 0.5}}};
  CHECK(ends_of(10'000'000, computed).both == Approx(10e-3));
  CHECK(ends_of(30'000'000, computed).both == Approx(20e-3));
  CHECK(graph_ends_of(30'000'000, computed).both == Approx(20e-3));
}

TEST_CASE(
    "a computation beside no message takes its time, and one that is not a factor is refused") {
  (void)run_simulated(2, contended_cluster(),
                      [](SimulatedRank& rank, const std::shared_ptr<Communicator>&) {
                        rank.spend(3e-3, {7, 9});
                        CHECK(rank.now() == Approx(3e-3));
                        CHECK_THROWS_AS(rank.spend(1e-3, {0, 1}), ValueError);
                        CHECK_THROWS_AS(rank.spend(1e-3, {1, std::nan("")}), ValueError);
                      });
  Operation kernel;
  CHECK_THROWS_AS(set_slowdown(kernel, {-1, 1}), ValueError);
}

struct MapKernel {
  std::string name;
  double flop, bytes;
  Slowdown slowdown;
};

/// A map as `overlap_map` records it, of this machine.
Results map_results(const std::vector<MapKernel>& kernels,
                    const std::string& resources = "threads=1") {
  Results results;
  results.environment = environment();
  for (const MapKernel& kernel : kernels) {
    for (const bool is_kernel : {true, false}) {
      Measurement record{.subject = kernel.name,
                         .level = "prediction",
                         .metric = is_kernel ? "kernel_slowdown" : "all_reduce_slowdown",
                         .unit = "1"};
      record.samples.assign(6, is_kernel ? kernel.slowdown.kernel : kernel.slowdown.all_reduce);
      record.conditions = {{"resources", identity(resources)},
                           {"ranks", identity(2)},
                           {"bytes", identity(1 << 20, "byte")},
                           {"all_reduce", identity("ring")},
                           {"kernel_flop", aside(kernel.flop, "flop")},
                           {"kernel_bytes", aside(kernel.bytes, "byte")}};
      results.measurements.push_back(record);
    }
  }
  return results;
}

ContentionSetup setup_of(const Results& map) {
  return {.machine = machine_words(map.environment),
          .threads = map.environment.threads,
          .resources = {.threads = 1}};
}

TEST_CASE(
    "a kernel's slowdown is the map's, and between kernels their geometric mean by distance") {
  // On one line, 2^10, 2^14 and 2^20 FLOP (each less 1, which log2(x + 1) adds).
  const Results map =
      map_results({{"small", 1023, 1023, {1, 1}}, {"large", 1048575, 1023, {4, 9}}});
  const auto cells = ContentionMap(map).cells_for(setup_of(map));
  CHECK(cells.mistrusted.empty());
  CHECK(cells.slowdown(1023, 1023).kernel == 1);
  CHECK(cells.slowdown(1048575, 1023).all_reduce == Approx(9));
  CHECK(cells.slowdown(32767, 1023).kernel == Approx(2));
  CHECK(cells.slowdown(32767, 1023).all_reduce == Approx(3));
  // 4 steps from the small one and 6 from the large one: weights of 36 and 16.
  CHECK(cells.slowdown(16383, 1023).kernel == Approx(std::pow(4, 16.0 / 52)));
  CHECK_FALSE(cells.lacks(16383, 1023));
  CHECK(cells.lacks(16383, 1024));
  CHECK(cells.lacks(1022, 1023));
  CHECK(cells.lacks(1048576, 1023));
}

TEST_CASE("a map of another machine, all-reduce or resources is refused, or mistrusted") {
  const Results map = map_results({{"a", 1e6, 1e6, {2, 3}}});
  const ContentionSetup fits = setup_of(map);
  const auto refusal = [&](const ContentionSetup& setup, const std::string& words) {
    CHECK_THROWS_WITH(ContentionMap(map).cells_for(setup), Catch::Contains(words));
    const auto cells = ContentionMap(map, Misfit::mistrust).cells_for(setup);
    REQUIRE_FALSE(cells.mistrusted.empty());
    CHECK_THAT(cells.mistrusted.front(), Catch::Contains(words));
    CHECK(cells.slowdown(1e6, 1e6).kernel == Approx(2));
  };
  ContentionSetup other = fits;
  other.machine["cpu"] = "an abacus";
  refusal(other, "the prediction's is 'an abacus'");
  other = fits;
  other.threads += 1;
  refusal(other, "its number of threads is");
  other = fits;
  other.all_reduce = "node_memory";
  refusal(other, "its all-reduce is 'ring', the prediction's is 'node_memory'");
  other = fits;
  other.resources = {.threads = 1, .waiting = Waiting::spin};
  refusal(other, "it has resources 'threads=1', the prediction's are 'threads=1:waiting=spin'");
}

TEST_CASE("a map without threads, of an unknown machine, or with doubts of its own is mistrusted") {
  Results map = map_results({{"a", 1e6, 1e6, {2, 3}}}, "threads=0");
  map.measurements.front().status = Status::mistrusted;
  const auto cells = ContentionMap(map).cells_for({});
  REQUIRE(cells.mistrusted.size() == 3);
  CHECK_THAT(cells.mistrusted[0], Catch::Contains("machine is unknown"));
  CHECK_THAT(cells.mistrusted[1], Catch::Contains("mistrusts 1 of its 1 kernels"));
  CHECK_THAT(cells.mistrusted[2], Catch::Contains("stand still"));
}

TEST_CASE("records that are no map, or that do not say their kernels' work, are refused") {
  CHECK_THROWS_WITH(ContentionMap(Results{}), Catch::Contains("d5 overlap map --out"));
  Results map = map_results({{"a", 1e6, 1e6, {2, 3}}});
  for (Measurement& record : map.measurements) record.conditions.erase("kernel_flop");
  CHECK_THROWS_WITH(ContentionMap(map),
                    Catch::Contains("FLOP and bytes") && Catch::Contains("'a'"));
}

/// Two layers of a node each, 10 ms each way; the second one's gradient, of 30 MB, is final first,
/// then the first one's of 10 MB.
TrainingProfile contended_nodes() {
  TrainingProfile profile{.model = "two nodes", .framework = "none"};
  profile.parameters = {{"second.weight", 30e6}, {"first.weight", 10e6}};
  profile.pieces = {{.name = "first", .kind = "forward", .flop = 1e6, .bytes = 1e4},
                    {.name = "second", .kind = "forward", .flop = 4e6, .bytes = 1e4},
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

/// Holds the FLOP and bytes of both nodes, forward and backward.
Results map_of_nodes(Slowdown first, Slowdown second) {
  return map_results({{"first", 2e6, 2e4, first},
                      {"second", 8e6, 2e4, second},
                      {"least", 1e6, 1e4, {1, 1}},
                      {"most", 1e9, 1e9, {1, 1}}});
}

SimulatedTrainingOptions training_with(const Results& map) {
  SimulatedTrainingOptions training{
      .batch = 8,
      .scheme = {"consistent_decentralized", {{"all_reduce", "ring"}, {"bucket_bytes", 1}}},
      .map = std::make_shared<const ContentionMap>(map)};
  training.simulation.progress = SimulatedProgressRule::thread;
  return training;
}

double graph_step(const SimulatedTrainingOptions& training, int ranks,
                  const ClusterDescription& cluster) {
  return predict_steady_step(planned_graph(contended_nodes(), ranks, cluster, training)).seconds;
}

TEST_CASE("a training's step with a map adds up") {
  // The first node's backward begins at 30 ms, beside the 30 ms of the first bucket: it ends at
  // 50 ms, when 20 / 1.5 are summed; then the rest, and the second bucket's 10 ms.
  const auto training = training_with(map_of_nodes({2, 1.5}, {1, 1}));
  const double step = 50e-3 + (30e-3 - 20e-3 / 1.5) + 10e-3;
  CHECK(graph_step(training, 2, contended_cluster()) == Approx(step).epsilon(1e-6));
  // 1e-3: as other steps of rings, whose parts end when polled
  CHECK(simulate_training(contended_nodes(), 2, contended_cluster(), training).step ==
        Approx(step).epsilon(1e-3));
}

TEST_CASE("graph and simulated ranks agree within 2% on what a map changes") {
  const int n = GENERATE(2, 4, 8);
  const auto [first, second] = GENERATE(table<Slowdown, Slowdown>({
      {{2, 1.5}, {1, 1}},
      {{1.1, 4}, {1.5, 1.5}},
      {{5, 1.2}, {1, 5}},
  }));
  CAPTURE(n, first.kernel, first.all_reduce);
  const auto training = training_with(map_of_nodes(first, second));
  const double simulated =
      simulate_training(contended_nodes(), n, simple_cluster(64), training).step;
  CHECK(graph_step(training, n, simple_cluster(64)) == Approx(simulated).epsilon(0.02));
  SimulatedTrainingOptions without = training;
  without.map = nullptr;
  const double before = simulate_training(contended_nodes(), n, simple_cluster(64), without).step;
  CHECK(simulated > 1.03 * before);  // so that 2% can tell both
}

TEST_CASE("messages that wait until a rank polls are not slowed by a map's waits, too") {
  const auto step_with = [](const Slowdown& slowdown, SimulatedProgressRule progress) {
    auto training = training_with(map_results({{"all", 2e6, 2e4, slowdown}}, "threads=0"));
    training.simulation.progress = progress;
    training.scheme.settings.set("all_reduce", "with_resources");
    training.scheme.settings.set("all_reduce.of", "ring");
    training.scheme.settings.set("all_reduce.resources", "threads=0");
    return simulate_training(contended_nodes(), 4, simple_cluster(64), training).step;
  };
  constexpr auto kPoll = SimulatedProgressRule::poll, kThread = SimulatedProgressRule::thread;
  CHECK(step_with({2, 1.5}, kPoll) == step_with({2, 1}, kPoll));
  CHECK(step_with({2, 1.5}, kPoll) > 1.03 * step_with({1, 1}, kPoll));
  CHECK(step_with({2, 1.5}, kThread) > 1.01 * step_with({2, 1}, kThread));
}

TEST_CASE("ranks that stand for others take a map as every rank does") {
  auto training = training_with(map_of_nodes({2, 1.5}, {1, 1}));
  training.simulation.progress = SimulatedProgressRule::poll;
  training.map = std::make_shared<const ContentionMap>(
      map_results({{"all", 2e6, 2e4, {2, 1.5}}}, "threads=0"));
  const double folded = simulate_training(contended_nodes(), 16, simple_cluster(64), training).step;
  training.every_rank = true;
  const double every = simulate_training(contended_nodes(), 16, simple_cluster(64), training).step;
  CHECK(folded == Approx(every).epsilon(1e-3));
}

TEST_CASE("a map of ones changes no bit") {
  auto with = training_with(map_of_nodes({1, 1}, {1, 1}));
  auto without = with;
  without.map = nullptr;
  const int n = GENERATE(2, 3, 8);
  const auto progress = GENERATE(SimulatedProgressRule::thread, SimulatedProgressRule::poll);
  CAPTURE(n);
  with.simulation.progress = without.simulation.progress = progress;
  with.scheme.settings.set("all_reduce", "with_resources");
  with.scheme.settings.set("all_reduce.of", "ring");
  with.scheme.settings.set("all_reduce.resources", "threads=1");
  without.scheme = with.scheme;
  const auto a = simulate_training(contended_nodes(), n, simple_cluster(64), with);
  const auto b = simulate_training(contended_nodes(), n, simple_cluster(64), without);
  CHECK(a.step == b.step);
  CHECK(a.report.rank_seconds == b.report.rank_seconds);
  CHECK(graph_step(with, n, simple_cluster(64)) == graph_step(without, n, simple_cluster(64)));
}

TEST_CASE("both predictions stand in the table and in the records, and what the map lacks") {
  // Both nodes' backward lie above the map's only kernel.
  const Results map = map_results({{"small", 1e6, 1e4, {2, 1.5}}}, "threads=0");
  ScalingPredictionOptions options{.ranks = {2}};
  options.training = training_with(map);
  options.training.simulation.progress = SimulatedProgressRule::poll;
  PredictedCurve curve;
  curve.model = "two nodes";
  curve.cluster = "fast";
  curve.points = predict_scaling(contended_nodes(), contended_cluster(), options);
  REQUIRE(curve.points.size() == 1);
  PredictedPoint& point = curve.points.front();
  CHECK(point.step == Approx(0.070).epsilon(1e-3));
  REQUIRE(point.contended);
  CHECK(point.contended->step > 1.03 * point.step);
  // The second node forward, both backward; updates take no time.
  CHECK(point.contended->lacking == Approx(0.75));
  CHECK_THAT(point.contended->mistrusted, Catch::Contains("no kernel like 5 of 6 pieces, 75%"));
  CHECK(point.mistrusted.empty());
  point.measured = {0.1};
  const std::string text = prediction_text({curve}, Format::table, 200);
  CHECK_THAT(text, Catch::Contains("with map") && Catch::Contains("map's error"));
  CHECK_THAT(text, Catch::Contains("with the map: "));
  int found = 0;
  for (const Measurement& record : prediction_records({curve})) {
    const bool is_contended = record.metric == "contended_time";
    if (is_contended) {
      ++found;
      CHECK(record.samples == std::vector<double>{point.contended->step});
      CHECK(record.status == Status::mistrusted);
      CHECK(condition_number(record, "map_lacks") == Approx(0.75));
    }
    if (record.metric == "contended_error") {
      ++found;
      CHECK(record.samples.at(0) == Approx(point.contended->step / 0.1 - 1));
    }
    if (record.metric == "predicted_time") CHECK(record.status == Status::passed);
  }
  CHECK(found == 2);
  options.training.map = nullptr;
  curve.points = predict_scaling(contended_nodes(), contended_cluster(), options);
  CHECK_FALSE(curve.points.front().contended);
  CHECK_THAT(prediction_text({curve}, Format::table, 200), !Catch::Contains("with map"));
}

TEST_CASE("a map of another number of ranks is mistrusted, and of another machine found first") {
  ScalingPredictionOptions options{.ranks = {4}};
  Results map = map_of_nodes({1, 1}, {1, 1});
  options.training = training_with(map);
  const auto points = predict_scaling(contended_nodes(), contended_cluster(), options);
  CHECK_THAT(points.front().contended->mistrusted, Catch::Contains("the map is of 2 ranks"));
  map.environment.cpu = "an abacus";
  options.training = training_with(map);
  const LocalRanks here{
      .profile = [](int, int) -> TrainingProfile { throw Interrupted("started"); },
      .cluster = memory_cluster,
      .steps = {},
      .timeline = {}};
  CHECK_THROWS_WITH(predict_here(here, options), Catch::Contains("an abacus"));
}

}  // namespace
}  // namespace d5
