// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/training_profile.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/prediction/profile/profile_from_cost.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5 {
namespace {

/// Two layers: forward 1 and 2 s, backward 4 and 3 s, updates of 0.5 s each, with gaps of 0.25 s
/// before the forward pieces; the same in every step.
TrainingProfile two_layers() {
  TrainingProfile profile{.model = "two",
                          .digest = "d",
                          .framework = "made up",
                          .optimizer = "sgd",
                          .threads = 1,
                          .machine = {{"cpu", "one"}}};
  profile.parameters = {{"w2", 200}, {"w1", 100}};
  profile.pieces = {{.name = "l1", .kind = "forward"},
                    {.name = "l2", .kind = "forward"},
                    {.name = "l2", .kind = "backward", .final_parameters = {0}},
                    {.name = "l1", .kind = "backward", .final_parameters = {1}},
                    {.name = "w2", .kind = "update"},
                    {.name = "w1", .kind = "update"}};
  TrainingProfile::Times times{.batch = 8};
  const double seconds[] = {1, 2, 3, 4, 0.5, 0.5}, gaps[] = {0.25, 0.25, 0, 0, 0, 0};
  for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
    times.seconds.emplace_back(4, seconds[i]);
    times.gaps.emplace_back(4, gaps[i]);
  }
  times.steps.assign(4, 11.5);
  times.unobserved.assign(4, 11.5);
  profile.batches = {times};
  return profile;
}

TEST_CASE("a profile reads back as it was written") {
  TrainingProfile profile = two_layers();
  profile.mistrusted = {"made up"};
  profile.batches[0].steps[1] = 1.0 / 3;
  profile.rates = {.reduce_bandwidth = 1e9 / 3, .scale_bandwidth = 2e9, .copy_bandwidth = 3e9};
  const std::string text = to_json(profile);
  const TrainingProfile again = training_profile_from_json(text, "p.json");
  CHECK(to_json(again) == text);
  CHECK(again.batches[0].steps[1] == 1.0 / 3);
  CHECK(again.rates.reduce_bandwidth == 1e9 / 3);
  CHECK(again.pieces[3].final_parameters == std::vector<std::size_t>{1});
}

TEST_CASE("a step's pieces add up to the step, whatever single steps were like") {
  TrainingProfile profile = two_layers();
  auto& times = profile.batches[0];
  times.seconds[2][3] += 100;  // one slow step of four is left out, as is the fastest
  times.steps[3] += 100;
  const StepTimes step = step_times(profile, 8);
  CHECK(step.step == 11.5);
  CHECK(step.seconds == std::vector<double>{1, 2, 3, 4, 0.5, 0.5});
  CHECK_FALSE(step.beyond);
}

TEST_CASE("between two batch sizes each piece is interpolated, and beyond them it says so") {
  TrainingProfile profile = two_layers();
  TrainingProfile::Times twice = profile.batches[0];
  twice.batch = 16;
  twice.seconds[0].assign(4, 3);
  twice.steps.assign(4, 13.5);
  profile.batches.push_back(twice);
  const StepTimes middle = step_times(profile, 12);
  CHECK(middle.seconds == std::vector<double>{2, 2, 3, 4, 0.5, 0.5});
  CHECK(middle.step == 12.5);
  CHECK_FALSE(middle.beyond);
  const StepTimes above = step_times(profile, 24);
  CHECK(above.seconds[0] == 5);
  CHECK(above.beyond);
  const StepTimes below = step_times(profile, 4);  // half of it, but gaps and updates stay
  CHECK(below.seconds == std::vector<double>{0.5, 1, 1.5, 2, 0.5, 0.5});
  CHECK(below.gaps[0] == 0.25);
  CHECK(below.beyond);
  CHECK_THROWS_AS(step_times(profile, 0), ValueError);
}

TEST_CASE("a prediction without a batch takes the only one, and never one of several") {
  TrainingProfile profile = two_layers();
  CHECK(only_batch(profile) == 8);
  profile.batches.push_back(profile.batches[0]);
  profile.batches[1].batch = 16;
  CHECK_THROWS_AS(only_batch(profile), ValueError);
  CHECK_THROWS_WITH(only_batch(profile), Catch::Contains("2 batch sizes (8, 16)"));
}

TEST_CASE("a profile that no training gives is refused") {
  TrainingProfile profile = two_layers();
  CHECK_NOTHROW(check(profile));
  const auto expect_refusal = [](const TrainingProfile& bad, const std::string& says) {
    CHECK_THROWS_AS(check(bad), ValueError);
    CHECK_THROWS_WITH(check(bad), Catch::Contains(says));
    CHECK_THROWS_AS(training_profile_from_json(to_json(bad), "p.json"), FormatError);
  };
  SECTION("a negative time") {
    profile.batches[0].seconds[1][2] = -1;
    expect_refusal(profile, "forward 'l2' at batch 8 took -1 s");
  }
  SECTION("a time that is no number") {
    profile.batches[0].gaps[0][0] = NAN;
    CHECK_THROWS_WITH(check(profile), Catch::Contains("the gap before forward 'l1'"));
  }
  SECTION("a missing node") {
    profile.batches[0].seconds.pop_back();
    expect_refusal(profile, "times of 5 pieces");
  }
  SECTION("a missing sample") {
    profile.batches[0].seconds[0].pop_back();
    expect_refusal(profile, "3 samples of 4 steps");
  }
  SECTION("nothing that runs backward") {
    for (auto& piece : profile.pieces)
      piece.kind = piece.kind == "backward" ? "forward" : piece.kind;
    expect_refusal(profile, "no node runs backward");
  }
  SECTION("a gradient that is never final") {
    profile.pieces[3].final_parameters.clear();
    expect_refusal(profile, "'w1' never becomes final");
  }
  SECTION("a gradient that is final twice") {
    profile.pieces[3].final_parameters = {0, 1};
    expect_refusal(profile, "each once");
  }
  SECTION("no batch size") {
    profile.batches.clear();
    expect_refusal(profile, "no batch size");
  }
}

TEST_CASE(
    "a profile of another model, machine or thread count is refused, or mistrusted if forced") {
  TrainingProfile profile = two_layers();
  CHECK_NOTHROW(expect_fit(profile, "d", {{"cpu", "one"}}, 1));
  CHECK_THROWS_WITH(expect_fit(profile, "e", {}, 0), Catch::Contains("another model"));
  CHECK_THROWS_WITH(expect_fit(profile, "", {{"cpu", "two"}}, 0), Catch::Contains("'two'"));
  CHECK_THROWS_AS(expect_fit(profile, "", {}, 2), ValueError);
  CHECK(profile.mistrusted.empty());
  expect_fit(profile, "e", {{"cpu", "two"}}, 2, Misfit::mistrust);
  CHECK(profile.mistrusted.size() == 3);
}

TEST_CASE("one rank's graph, scheduled, takes what the step takes") {
  const TrainingProfile profile = two_layers();
  const OperationGraph graph = one_rank_graph(profile, 8);
  CHECK(schedule(graph).seconds == 11.5);
  CHECK(critical_path(graph).seconds == 11.5);
  CHECK(graph.find([](const Operation& each) { return each.kind == "overhead"; }).size() == 2);
}

TEST_CASE("a bucket's sum runs beside what is left of backward, and updates wait for it") {
  const TrainingProfile profile = two_layers();
  OperationGraph graph =
      data_parallel_graph(profile, {.batch = 8, .ranks = 4, .buckets = {.least = 0}});
  // 6 s for the 200 bytes of w2, 3 s for those of w1.
  price(graph, [](const Operation& each) { return each.rule->bytes * 0.03; });
  const StepPrediction step = predict_step(graph);
  // Backward of l2 ends at 6.5 s; w2's sum runs from there to 12.5, w1's from 12.5 to 15.5, while
  // l1's backward ends at 10.5. w2 is updated until 13, w1 until 16.
  CHECK(step.seconds == 16);
  CHECK(step.compute == 10.25);  // from 0.25, where the first node begins
  CHECK(step.alpha == 10.25 / 15.25);
  CHECK(step.overlapped == 4 + 0.5);
  CHECK(step.exposed == 2 + 2.5);
}

TEST_CASE("one bucket of all gradients waits for the last") {
  const TrainingProfile profile = two_layers();
  OperationGraph graph = data_parallel_graph(
      profile, {.batch = 8, .ranks = 2, .copies = Copies::own_engine, .negotiation_bytes = 8});
  price(graph, [](const Operation& each) {
    return each.kind == "copy" ? 1.0 : each.kind == "negotiation" ? 0.5 : 2.0;
  });
  CHECK(predict_step(graph).seconds == 10.5 + 0.5 + 1 + 2 + 1 + 1);
  CHECK(graph.find([](const Operation& each) { return each.kind == "all_reduce"; }).size() == 1);
}

TEST_CASE("one rank alone has alpha 1 and nothing exposed") {
  const StepPrediction step = predict_step(data_parallel_graph(two_layers(), {.batch = 8}));
  CHECK(step.alpha == 1);
  CHECK(step.exposed == 0);
  CHECK(step.seconds == 11.5);
  CHECK_THROWS_AS(data_parallel_graph(two_layers(), {.batch = 8, .ranks = 0}), ValueError);
  CHECK_THROWS_AS(data_parallel_graph(two_layers(), {.batch = 8, .ranks = 1'000'001}), ValueError);
}

TEST_CASE("a profile from costs shares a step by the work of its nodes") {
  const TrainingProfile profile =
      profile_from_cost("lenet", {.batch = 4, .step_seconds = 2, .switch_seconds = 1e-3});
  const StepTimes times = step_times(profile, 4);
  CHECK(times.step == 2);
  double sum = 0;
  std::map<std::string, double> forward, backward;
  for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
    sum += times.seconds[i] + times.gaps[i];
    const auto& piece = profile.pieces[i];
    if (piece.kind == "forward") forward[piece.name] = times.seconds[i];
    if (piece.kind == "backward") backward[piece.name] = times.seconds[i];
  }
  CHECK(sum == Approx(2));  // rounding of sums
  // The first convolution has a gradient of its weights alone, the second also of what it reads.
  std::vector<double> ratios;
  for (const auto& piece : profile.pieces) {
    if (piece.kind == "forward" && piece.op_type == "Conv") {
      ratios.push_back(backward[piece.name] / forward[piece.name]);
    }
  }
  REQUIRE(ratios.size() == 2);
  CHECK(ratios[0] == Approx(1));
  CHECK(ratios[1] == Approx(2));
  CHECK_THROWS_AS(profile_from_cost("lenet", {.step_seconds = 0}), ValueError);
  CHECK_THROWS_WITH(profile_from_cost("lenet", {.step_seconds = 1e-3, .switch_seconds = 1}),
                    Catch::Contains("switches alone"));
  CHECK_THROWS_WITH(
      profile_from_cost("lenet", {.step_seconds = 1, .changes = {"training.epochs=2"}}),
      Catch::Contains("the change training.epochs=2 is of a recipe"));
  CHECK_THROWS_WITH(profile_from_cost("lenet", {.step_seconds = 1, .data = "mnist"}),
                    Catch::Contains("a data set's folder is of a recipe"));
}

TEST_CASE("a recipe's profile from costs has the network and the optimizer that it trains") {
  const TrainingProfile profile = profile_from_cost(
      "mnist-lenet-quick",
      {.batch = 4, .step_seconds = 2, .changes = {"optimizer.name=adam:learning_rate=0.01"}});
  CHECK(profile.optimizer == "adam");
  CHECK(profile.parameters.size() == 10);  // weights and biases of LeNet-5's five layers
  CHECK(step_times(profile, 4).step == 2);
}

TEST_CASE("a model's digest is the same for the same model, and another for another") {
  Network lenet = open_model("lenet"), again = open_model("lenet"), other = open_model("alexnet");
  CHECK(model_digest(lenet) == model_digest(again));
  CHECK(model_digest(lenet) != model_digest(other));
}

}  // namespace
}  // namespace d5
