// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/profile_training.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5 {
namespace {

using Piece = TrainingProfile::Piece;

std::vector<std::string> names_of(const TrainingProfile& profile, const std::string& kind) {
  std::vector<std::string> names;
  for (const Piece& piece : profile.pieces) {
    if (piece.kind == kind) names.push_back(piece.name);
  }
  return names;
}

TEST_CASE("a profile has every node both ways, every gradient, every update, and adds up") {
  std::int64_t told = 0;
  ProfileOptions options{.batches = {4, 2}, .steps = 4};
  options.on_step = [&](std::int64_t) { ++told; };
  const TrainingProfile profile = profile_training("lenet", "reference", options, {}, *world());
  CHECK(told == profiled_steps(options));
  REQUIRE(profile.batches.size() == 2);
  CHECK(profile.batches[0].batch == 2);
  CHECK(names_of(profile, "forward").size() == names_of(profile, "backward").size());
  const auto updates = names_of(profile, "update");
  REQUIRE(updates.size() == profile.parameters.size());
  double bytes = 0;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    CHECK(updates[i] == profile.parameters[i].name);
    bytes += profile.parameters[i].bytes;
  }
  CHECK(bytes == 4 * 61'706);  // LeNet-5's parameters, of four bytes
  std::set<std::size_t> final_ones;
  for (const Piece& piece : profile.pieces) {
    CHECK((piece.final_parameters.empty() || piece.kind == "backward"));
    final_ones.insert(piece.final_parameters.begin(), piece.final_parameters.end());
  }
  CHECK(final_ones.size() == profile.parameters.size());
  for (const auto& times : profile.batches) {
    CHECK(times.steps.size() == 4);
    CHECK(times.unobserved.size() == 4);
    for (std::size_t step = 0; step < times.steps.size(); ++step) {
      double sum = 0;
      for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
        sum += times.seconds[i][step] + times.gaps[i][step];
      }
      // Nothing of a step is left out: differences of one clock's readings, but for rounding.
      CHECK(sum == Approx(times.steps[step]).epsilon(1e-9));
    }
  }
  // It is of four steps, and says so.
  CHECK(std::ranges::any_of(profile.mistrusted, [](const std::string& reason) {
    return reason.find("fewer than 30") != std::string::npos;
  }));
  const double step = step_times(profile, 4).step;
  CHECK(schedule(one_rank_graph(profile, 4)).seconds == Approx(step).epsilon(1e-9));
}

TEST_CASE("a recipe's profile loads batches of the size that was asked for") {
  const TrainingProfile profile = profile_training(
      "mnist-lenet-quick", "reference", {.batches = {8}, .steps = 2, .warm_up = 0}, {}, *world());
  REQUIRE_FALSE(profile.pieces.empty());
  CHECK(profile.pieces.front().kind == "load");
  CHECK(profile.optimizer == "momentum");
  const OperationGraph graph = one_rank_graph(profile, 8);
  CHECK(schedule(graph).seconds == Approx(step_times(profile, 8).step).epsilon(1e-9));
}

TEST_CASE("the usual batch is a recipe's own, after its changes, and 16 of a model") {
  CHECK(usual_batch("lenet") == 16);
  CHECK(usual_batch("mnist-lenet-quick") == 32);
  CHECK(usual_batch("mnist-lenet-quick", {"sampler.batch_size=8"}) == 8);
  CHECK_THROWS_AS(usual_batch("no-such.yaml"), IoError);
}

TEST_CASE("an interrupted profile keeps the steps that it has, or says that it keeps nothing") {
  ProfileOptions options{.batches = {2, 4}, .steps = 50, .warm_up = 1};
  std::int64_t told = 0;
  const std::int64_t last = GENERATE(1, 2, 6);
  options.interrupt.wished = [&] { return told == last; };
  options.on_step = [&](std::int64_t) { ++told; };
  const auto profiled = [&] {
    return profile_training("lenet", "reference", options, {}, *world());
  };
  if (last < 3) {  // the warm-up, and one step
    CHECK_THROWS_WITH(profiled(), Catch::Contains("no profile is written"));
    return;
  }
  const TrainingProfile profile = profiled();
  CHECK(profile.batches.size() == 1);
  CHECK(profile.batches[0].steps.size() == 5);
  CHECK(std::ranges::any_of(profile.mistrusted, [](const std::string& reason) {
    return reason.starts_with("interrupted");
  }));
}

TEST_CASE("a training that cannot be profiled is refused before anything runs") {
  const auto profiled = [](const ProfileOptions& options) {
    return profile_training("lenet", "reference", options, {}, *world());
  };
  CHECK_THROWS_AS(profiled({.batches = {}}), ValueError);
  CHECK_THROWS_AS(profiled({.batches = {0}}), ValueError);
  CHECK_THROWS_AS(profiled({.steps = 1}), ValueError);
  CHECK_THROWS_AS(profile_training("lenett", "reference", {}, {}, *world()), NotFound);
}

}  // namespace
}  // namespace d5
