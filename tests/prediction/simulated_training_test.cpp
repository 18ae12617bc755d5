// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/simulated_training.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/training/predicted_curve.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"
#include "d5/prediction/training/prediction_timeline.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5 {
namespace {

/// A step of 10 ms forward, and twice 10 ms backward, after each of which 1 MB of gradients is
/// final.
TrainingProfile three_pieces() {
  TrainingProfile profile{.model = "three pieces", .framework = "none"};
  profile.parameters = {{"last", 1e6}, {"first", 1e6}};
  profile.pieces = {{.name = "all", .kind = "forward"},
                    {.name = "last", .kind = "backward", .final_parameters = {0}},
                    {.name = "first", .kind = "backward", .final_parameters = {1}}};
  TrainingProfile::Times times{.batch = 8};
  times.seconds.assign(3, std::vector<double>(4, 0.010));
  times.gaps.assign(3, std::vector<double>(4, 0.0));
  times.steps.assign(4, 0.030);
  profile.batches = {times};
  return profile;
}

/// 1 GB/s, no latency, a port a rank.
ClusterDescription fast_ports() {
  ClusterDescription cluster;
  cluster.name = "fast ports";
  cluster.hosts = 1024;
  cluster.latency = {0, "made up"};
  cluster.bandwidth = {1e9, "made up"};
  return cluster;
}

SimulatedTrainingOptions ring_by(SimulatedProgressRule progress) {
  SimulatedTrainingOptions options{
      .batch = 8,
      .scheme = {"consistent_decentralized", {{"all_reduce", "ring"}, {"bucket_bytes", 1000}}}};
  options.simulation.progress = progress;
  return options;
}

TEST_CASE("one simulated rank takes the profile's step, and nothing shows of an exchange") {
  const auto training =
      simulate_training(three_pieces(), 1, fast_ports(), ring_by(SimulatedProgressRule::poll));
  CHECK(training.step == Approx(0.030));
  CHECK(training.exposed == Approx(0).margin(1e-12));
  CHECK(training.alpha == 1);
  CHECK(training.bytes_sent == 0);
}

TEST_CASE("what backpropagation hides of an all-reduce, and what it does not, is as by hand") {
  // Two ranks' ring sends half of a bucket twice, 0.5 ms each. With asynchronous progress the first
  // bucket is done before the second begins, which exposes 1 ms.
  const auto by_itself =
      simulate_training(three_pieces(), 2, fast_ports(), ring_by(SimulatedProgressRule::thread));
  CHECK(by_itself.step == Approx(0.031).epsilon(1e-3));
  CHECK(by_itself.exposed == Approx(0.001).epsilon(0.05));
  CHECK(by_itself.alpha == Approx(30.0 / 31).epsilon(1e-3));
  // A ring that moves when it is asked has its second half still to send when the last gradient
  // is final: half a millisecond more.
  const auto when_asked =
      simulate_training(three_pieces(), 2, fast_ports(), ring_by(SimulatedProgressRule::poll));
  CHECK(when_asked.step == Approx(0.0315).epsilon(1e-3));
  for (const auto& training : {by_itself, when_asked}) CHECK(training.bytes_sent == 2'000'000);
}

TEST_CASE("a rank's own work in an exchange takes what the profile says, unless told otherwise") {
  TrainingProfile profile = three_pieces();
  // Half of the two megabytes in one message is summed between the ring's two rounds: 0.5 ms.
  profile.rates = {.reduce_bandwidth = 2e9, .scale_bandwidth = 2e9, .copy_bandwidth = 2e9};
  auto options = ring_by(SimulatedProgressRule::poll);
  options.scheme.settings.set("bucket_bytes", 5'000'000);
  const double without = simulate_training(three_pieces(), 2, fast_ports(), options).step;
  const double with = simulate_training(profile, 2, fast_ports(), options).step;
  CHECK(without == Approx(0.032));
  CHECK(with - without == Approx(0.5e-3).epsilon(1e-6));
  options.simulation.rates.reduce_bandwidth = 1e9;
  CHECK(simulate_training(profile, 2, fast_ports(), options).step - with ==
        Approx(0.5e-3).epsilon(1e-6));
}

TEST_CASE("a network's spread widens the interval of a prediction") {
  ClusterDescription cluster = fast_ports();
  ScalingPredictionOptions options{
      .ranks = {2}, .what_helps = false, .training = ring_by(SimulatedProgressRule::thread)};
  const auto sure = predict_scaling(three_pieces(), cluster, options).front();
  CHECK(sure.step_interval.high == Approx(sure.step));
  cluster.spread = {0.5, "made up"};
  const auto unsure = predict_scaling(three_pieces(), cluster, options).front();
  CHECK(unsure.step == Approx(sure.step));
  // Half of the last bucket's millisecond is certain.
  CHECK(unsure.step_interval.low == Approx(0.0305).epsilon(1e-3));
  CHECK(unsure.step_interval.high == Approx(0.0315).epsilon(1e-3));
}

TEST_CASE("the formula's machine is as much faster as the simulated one") {
  ScalingPredictionOptions options{.ranks = {1}, .training = ring_by(SimulatedProgressRule::poll)};
  options.training.compute_factor = 0.5;
  const auto point = predict_scaling(three_pieces(), fast_ports(), options).front();
  CHECK(point.step == Approx(0.015));
  CHECK(point.baseline == Approx(0.015));
  CHECK(point.exposed == 0);
}

TEST_CASE("a prediction from a profile that is mistrusted is so") {
  TrainingProfile profile = three_pieces();
  profile.mistrusted = {"other work kept 3.0 of 2 processors busy", "6 steps"};
  const auto point = predict_scaling(profile, fast_ports(), {.ranks = {1}}).front();
  CHECK_THAT(point.mistrusted,
             Catch::StartsWith("other work kept 3.0 of 2 processors busy; 6 steps"));
}

TEST_CASE("a profile whose schedule misses its unobserved step is mistrusted, by its distance") {
  TrainingProfile profile = three_pieces();
  const auto point = [&](double unobserved, int ranks) {
    profile.batches[0].unobserved.assign(4, unobserved);
    const auto training = ring_by(SimulatedProgressRule::thread);
    return predict_scaling(profile, fast_ports(), {.ranks = {ranks}, .training = training}).front();
  };
  CHECK(point(0.030, 1).mistrusted.empty());
  const auto near = point(0.0303, 1);  // 1%: no reason to mistrust, but as much unsure
  CHECK(near.mistrusted.empty());
  CHECK(near.step_interval.low == Approx(0.030));
  CHECK(near.step_interval.high == Approx(0.0303));
  for (const int ranks : {1, 2}) {
    const auto shorter = point(0.040, ranks), longer = point(0.024, ranks);
    CHECK_THAT(shorter.mistrusted, Catch::Contains("schedule is -25% off its unobserved step"));
    CHECK_THAT(longer.mistrusted, Catch::Contains("schedule is +25% off its unobserved step"));
    CHECK(shorter.step_interval.high > 0.0399);
    CHECK(longer.step_interval.low < 0.026);
  }
}

TEST_CASE("what lies beyond profile or calibration is marked") {
  ClusterDescription cluster = fast_ports();
  ScalingPredictionOptions options{
      .ranks = {2}, .what_helps = false, .training = ring_by(SimulatedProgressRule::thread)};
  cluster.calibrated_bytes = {1'000'000, "made up"};  // a whole gradient: nothing is larger
  CHECK(predict_scaling(three_pieces(), cluster, options).front().mistrusted.empty());
  cluster.calibrated_bytes.value = 400'000;
  CHECK_THAT(predict_scaling(three_pieces(), cluster, options).front().mistrusted,
             Catch::Contains("messages of 1000000 bytes"));
  cluster.calibrated_bytes.value = 0;
  options.training.batch = 9;
  CHECK_THAT(predict_scaling(three_pieces(), cluster, options).front().mistrusted,
             Catch::Contains("a batch of 9"));
}

TEST_CASE("ranks whose steps differ wait for the slowest of them") {
  TrainingProfile profile = three_pieces();
  // Every other step is twice as long: of 8 ranks nearly always one has it, of one every other.
  profile.batches[0].unobserved = {0.030, 0.060};
  auto options = ring_by(SimulatedProgressRule::thread);
  options.draws_steps = true;
  options.steps = 41;
  ClusterDescription cluster = fast_ports();
  cluster.bandwidth.value = 1e15;
  CHECK(simulate_training(profile, 8, cluster, options).step == Approx(0.060).epsilon(1e-3));
  profile.batches[0].unobserved = {0.030, 0.030, 0.060};
  CHECK(simulate_training(profile, 1, cluster, options).step == Approx(0.030).epsilon(1e-3));
  options.draws_steps = false;
  CHECK(simulate_training(profile, 8, cluster, options).step == Approx(0.030).epsilon(1e-3));
}

TEST_CASE("steps are drawn of each launch as often, however many it made") {
  TrainingProfile profile = three_pieces();
  auto& times = profile.batches[0];
  // Two short launches of three are slow; most of all steps are not.
  times.launches = {30, 2, 2};
  times.steps.assign(34, 0.030);
  times.unobserved.assign(30, 0.030);
  times.unobserved.insert(times.unobserved.end(), 4, 0.060);
  for (auto& seconds : times.seconds) seconds.assign(34, 0.010);
  for (auto& gaps : times.gaps) gaps.assign(34, 0.0);
  auto options = ring_by(SimulatedProgressRule::thread);
  options.draws_steps = true;
  options.steps = 31;
  CHECK(simulate_training(profile, 1, fast_ports(), options).step == Approx(0.060).epsilon(1e-3));
}

TEST_CASE("a simulation above its time leaves the points before it") {
  ScalingPredictionOptions options{
      .ranks = {1, 512}, .what_helps = false, .training = ring_by(SimulatedProgressRule::poll)};
  options.training.simulation.most_wall_seconds = 1e-6;
  CHECK_THROWS_AS(simulate_training(three_pieces(), 512, fast_ports(), options.training),
                  SimulationBudget);
}

TEST_CASE("averages of every few steps count in the mean step, and their bytes in its bytes") {
  const auto averaged = [](std::int64_t every) {
    SimulatedTrainingOptions options{
        .batch = 8, .scheme = {"model_averaging", {{"every", every}, {"all_reduce", "ring"}}}};
    return simulate_training(three_pieces(), 4, fast_ports(), options);
  };
  const SimulatedTraining often = averaged(1);
  REQUIRE(often.exposed > 1e-3);
  for (const std::int64_t every : {2, 3, 4, 5, 8, 16}) {
    CAPTURE(every);
    const SimulatedTraining seldom = averaged(every);
    CHECK(seldom.exposed == Approx(often.exposed / double(every)).epsilon(0.01));
    CHECK(double(seldom.bytes_sent) == Approx(double(often.bytes_sent) / double(every)).margin(1));
  }
}

TEST_CASE("a scheme that reads values, or has ranks of its own, is refused by name") {
  const auto refusal_of = [](const EntryChoice& scheme) {
    SimulatedTrainingOptions options{.batch = 8, .scheme = scheme};
    try {
      (void)simulate_training(three_pieces(), 4, fast_ports(), options);
    } catch (const Unsupported& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* name :
       {"consistent_neighbors", "elastic_averaging", "push_sum", "stale_synchronous"}) {
    CHECK_THAT(refusal_of({name}), Catch::Contains(name) && Catch::Contains("values of tensors"));
  }
  CHECK_THAT(refusal_of({"consistent_decentralized", {{"exchange", "compressed"}}}),
             Catch::Contains("values of tensors"));
  CHECK_THAT(refusal_of({"torch/ddp"}), Catch::Contains("its framework's own ranks"));
  CHECK(refusal_of({"consistent_decentralized"}).empty());
}

TEST_CASE("a strategy that the graph predicts says what its gain is over") {
  ScalingPredictionOptions options{.ranks = {4}};
  options.training = ring_by(SimulatedProgressRule::poll);
  PlannedTraining planned{options.training, fast_ports()};
  const EntryChoice priority{"priority"};
  apply_strategies({&priority, 1}, planned);
  options.training = planned.training;
  const auto points = predict_scaling(three_pieces(), planned.cluster, options);
  CHECK_THAT(points.front().mistrusted, Catch::Contains("the graph, whose step without it is"));
}

TEST_CASE("numbers of ranks that no cluster has are refused") {
  for (const int ranks : {0, -1, 1'000'001}) {
    CHECK_THROWS_AS(predict_scaling(three_pieces(), fast_ports(), {.ranks = {ranks}}), ValueError);
  }
  CHECK_THROWS_AS(predict_scaling(three_pieces(), fast_ports(), {.ranks = {}}), ValueError);
  ScalingPredictionOptions many{.ranks = {2048}, .training = ring_by(SimulatedProgressRule::poll)};
  CHECK_THROWS_WITH(predict_scaling(three_pieces(), fast_ports(), many),
                    Catch::Contains("room for 1024 ranks"));
}

TEST_CASE("a faster machine's step ends earlier by its computing alone") {
  auto options = ring_by(SimulatedProgressRule::thread);
  options.compute_factor = 0.5;
  const auto training = simulate_training(three_pieces(), 2, fast_ports(), options);
  CHECK(training.computed == Approx(0.015));
  CHECK(training.step == Approx(0.016).epsilon(1e-3));
  options.compute_factor = 0;
  CHECK_THROWS_AS(simulate_training(three_pieces(), 2, fast_ports(), options), ValueError);
  options = ring_by(SimulatedProgressRule::poll);
  options.steps = 1;
  CHECK_THROWS_AS(simulate_training(three_pieces(), 2, fast_ports(), options), ValueError);
}

TEST_CASE("a curve's points are a training each, and strong scaling shares the batch") {
  ScalingPredictionOptions options{.ranks = {1, 2, 4, 8},
                                   .what_helps = true,
                                   .training = ring_by(SimulatedProgressRule::thread)};
  const auto weak = predict_scaling(three_pieces(), fast_ports(), options);
  REQUIRE(weak.size() == 4);
  CHECK(weak[0].throughput == Approx(8 / 0.030));
  CHECK(weak[0].efficiency == 1);
  for (std::size_t i = 1; i < weak.size(); ++i) {
    const double n = weak[i].ranks;
    CHECK(weak[i].batch == 8);
    // A ring's bytes on the last bucket show: 2 (n - 1) / n.
    CHECK(weak[i].step == Approx(0.030 + 2 * (n - 1) / n * 0.001).epsilon(1e-3));
    CHECK(weak[i].efficiency == Approx(0.030 / weak[i].step).epsilon(1e-6));
    CHECK(weak[i].baseline <= weak[i].step * (1 + 1e-9));
    CHECK(weak[i].bound_by == "computing");
    CHECK(weak[i].alone == Approx(8 / 0.030));
  }
  options.scaling = PredictedScaling::strong;
  const auto strong = predict_scaling(three_pieces(), fast_ports(), options);
  CHECK(strong[3].batch == 1);
  CHECK(strong[3].computed == Approx(0.030 / 8));
  CHECK_FALSE(strong[3].mistrusted.empty());
  options.ranks = {3};
  CHECK_THROWS_WITH(predict_scaling(three_pieces(), fast_ports(), options),
                    Catch::Contains("3 ranks cannot share a batch of 8"));
}

TEST_CASE("efficiency is relative to one rank of the profile, also where none was asked for") {
  ScalingPredictionOptions options{.ranks = {2, 4},
                                   .training = ring_by(SimulatedProgressRule::thread)};
  for (const auto& point : predict_scaling(three_pieces(), fast_ports(), options)) {
    CHECK(point.efficiency == Approx(0.030 / point.step).epsilon(1e-6));
    CHECK(point.efficiency < 1);
    CHECK(point.bound_by.empty());
  }
  // One rank would have the whole batch, which the profile does not know.
  options.scaling = PredictedScaling::strong;
  options.training.batch = 64;
  const auto strong = predict_scaling(three_pieces(), fast_ports(), options);
  CHECK(std::isnan(strong.front().efficiency));
  PredictedCurve curve;
  curve.points = strong;
  CHECK(prediction_table({curve}).to_text(Format::table).find("nan") == std::string::npos);
}

TEST_CASE("by formula, thousands of ranks cost nothing, and agree with a quiet simulation") {
  ScalingPredictionOptions options{.ranks = {1, 2, 8},
                                   .training = ring_by(SimulatedProgressRule::thread)};
  const auto simulated = predict_scaling(three_pieces(), fast_ports(), options);
  choose_network_model(options.training, "formula", fast_ports());
  CHECK(options.training.by_formula);
  const auto formula = predict_scaling(three_pieces(), fast_ports(), options);
  for (std::size_t i = 0; i < simulated.size(); ++i) {
    CHECK(formula[i].step == Approx(simulated[i].step).epsilon(1e-3));
    CHECK(formula[i].step == Approx(formula[i].baseline));
    CHECK(formula[i].efficiency == Approx(simulated[i].efficiency).epsilon(1e-3));
  }
  ClusterDescription large = fast_ports();
  large.hosts = 1'000'000;
  options.ranks = {4096, 1'000'000};
  const auto many = predict_scaling(three_pieces(), large, options);
  REQUIRE(many.size() == 2);
  CHECK(many[0].step == Approx(0.030 + 0.002).epsilon(1e-3));  // a ring: twice the last bucket
  CHECK(many[1].bound_by == "computing");
  CHECK_THROWS_AS(predicted_timeline(three_pieces(), 2, fast_ports(), options.training),
                  Unsupported);
  CHECK_THROWS_WITH(predict_scaling(three_pieces(), fast_ports(), options),
                    Catch::Contains("room for 1024 ranks"));
}

TEST_CASE("the network model follows the cluster's topology, unless one is named") {
  SimulatedTrainingOptions training;
  ClusterDescription cluster = fast_ports();
  choose_network_model(training, "", cluster);
  CHECK(training.simulation.model.name == "ports");
  cluster.topology = "fat_tree";
  choose_network_model(training, "", cluster);
  const bool has_simgrid = [] {
    try {
      (void)find_simulated_network("simgrid");
      return true;
    } catch (const Unsupported&) {
      return false;
    }
  }();
  CHECK(training.simulation.model.name == (has_simgrid ? "simgrid" : "ports"));
  choose_network_model(training, "closed", cluster);
  CHECK(training.simulation.model.name == "closed");
  CHECK_THROWS_AS(choose_network_model(training, "portz", cluster), NotFound);
}

TEST_CASE("a budget ends a simulation, and a curve with the points that it has") {
  auto options = ring_by(SimulatedProgressRule::poll);
  options.simulation.most_wall_seconds = 1e-9;
  CHECK_THROWS_AS(simulate_training(three_pieces(), 2, fast_ports(), options), SimulationBudget);
  CHECK_THROWS_WITH(simulate_training(three_pieces(), 2, fast_ports(), options),
                    Catch::Contains("after 0 of 4 steps of 2 ranks"));
  options = ring_by(SimulatedProgressRule::poll);
  options.simulation.most_bytes = 8 << 20;
  CHECK_THROWS_AS(simulate_training(three_pieces(), 1024, fast_ports(), options), MemoryError);
  const auto points = predict_scaling(
      three_pieces(), fast_ports(), {.ranks = {1, 1024}, .what_helps = false, .training = options});
  REQUIRE(points.size() == 1);
  CHECK(points.front().ranks == 1);
}

TEST_CASE("strategies change a plan one after the other") {
  const std::vector<EntryChoice> chain = {{"compute", {{"factor", 2}}},
                                          {"compute", {{"factor", 3}}},
                                          {"wire", {{"bandwidth", 4}, {"latency", 0.5}}},
                                          {"buckets", {{"bytes", "5MB"}}},
                                          {"engine", {{"model", "closed"}}}};
  PlannedTraining plan{ring_by(SimulatedProgressRule::thread), fast_ports()};
  plan.cluster.latency.value = 1e-3;
  apply_strategies(chain, plan);
  CHECK(plan.training.compute_factor == Approx(1.0 / 6));
  CHECK(plan.cluster.bandwidth.value == Approx(4e9));
  CHECK(plan.cluster.latency.value == Approx(0.5e-3));
  CHECK(plan.training.simulation.model.name == "closed");
  // Both gradients in one message, which nothing hides: 2 MB in two halves.
  plan.cluster.latency.value = 0;
  const auto training = simulate_training(three_pieces(), 2, plan.cluster, plan.training);
  CHECK(training.step == Approx(0.005 + 0.0005).epsilon(1e-3));
  for (const auto& name : prediction_strategies().names()) {
    if (name == "engine") continue;  // by default it needs a framework
    CHECK_NOTHROW(prediction_strategies().at(name).make()->apply(plan));
  }
  const std::vector<EntryChoice> none = {{"compute", {{"factor", 0}}}};
  CHECK_THROWS_AS(apply_strategies(none, plan), ValueError);
}

TEST_CASE("numbers of ranks are a list, or the powers of two between two of them") {
  CHECK(ranks_from("1,2,4") == std::vector<int>{1, 2, 4});
  CHECK(ranks_from("1..12") == std::vector<int>{1, 2, 4, 8, 12});
  CHECK(ranks_from("4,1..2") == std::vector<int>{1, 2, 4});
  for (const char* words : {"", "0", "-1", "1..", "a", "1,,2", "2000000", "1.5"}) {
    CHECK_THROWS_AS(ranks_from(words), ValueError);
  }
}

}  // namespace
}  // namespace d5
