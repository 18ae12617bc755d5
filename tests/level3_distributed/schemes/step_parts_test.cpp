// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/step_parts.hpp"
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/level2_training/training/training_session.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "tests/level3_distributed/recipe_for_ranks.hpp"

using namespace d5;
using detail::parts_of;
using detail::TimeRange;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TimeRange seconds(std::int64_t begin, std::int64_t end) { return {begin * kSecond, end * kSecond}; }

}  // namespace

TEST_CASE("a step's parts are what a person reads from its spans") {
  // A step of 20 s: a batch for 2, the optimizer for 18; calls under way from 5 to 9 and 7 to 15,
  // waited for from 11 to 14, and from 18 to 19 with one that ran from 18 on.
  const auto parts =
      parts_of(seconds(0, 20), seconds(2, 20), {seconds(7, 15), seconds(5, 9), seconds(18, 19)},
               {seconds(11, 14), seconds(18, 19)});
  CHECK(parts.idle == Approx(2));
  CHECK(parts.exposed == Approx(4));
  CHECK(parts.overlapped == Approx(7));  // 5 to 15, without 11 to 14
  CHECK(parts.compute == Approx(7));
  CHECK(parts.step() == Approx(20));
}

TEST_CASE("calls outside of the optimizer are no overlap, and a wait there is exposed") {
  const auto parts = parts_of(seconds(0, 10), seconds(4, 10), {seconds(1, 5)}, {seconds(1, 3)});
  CHECK(parts.exposed == Approx(2));
  CHECK(parts.idle == Approx(2));
  CHECK(parts.overlapped == Approx(1));
  CHECK(parts.compute == Approx(5));
  const auto alone = parts_of(seconds(0, 10), seconds(0, 10), {}, {});
  CHECK(alone.compute == Approx(10));
}

TEST_CASE("waits for an algorithm of several calls are exposed, whatever it is made of") {
  if (world()->size() == 1) return;
  for (const std::string all_reduce : {"ring", "node_memory"}) {
    Recipe recipe = testing::recipe_for_ranks({.train = 120, .test = 12});
    recipe.set("distributed.name=consistent_decentralized:all_reduce=" + all_reduce);
    SessionOptions session;
    session.metrics.emplace_back("exposed_time");
    session.metrics.emplace_back("communication_time");
    const auto results = train(recipe, std::move(session), world());
    for (const char* metric : {"exposed_time", "communication_time"}) {
      INFO(all_reduce << ", " << metric);
      const auto place = std::ranges::find(results, metric, &Measurement::metric);
      REQUIRE(place != results.end());
      CHECK(std::ranges::all_of(place->samples, [](double value) { return value > 0; }));
    }
  }
}

TEST_CASE("the parts of every step of a training sum to it") {
  Recipe recipe = testing::recipe_for_ranks({.train = 120, .test = 12});
  SessionOptions session;
  for (const char* name : {"compute_time", "overlapped_time", "exposed_time", "idle_time",
                           "exposed_share", "batch_time"}) {
    session.metrics.emplace_back(name);
  }
  const auto results = train(recipe, std::move(session), world());
  const auto samples = [&](const std::string& metric) {
    const auto place = std::ranges::find(results, metric, &Measurement::metric);
    REQUIRE(place != results.end());
    return place->samples;
  };
  const auto compute = samples("compute_time"), exposed = samples("exposed_time");
  const auto share = samples("exposed_share");
  REQUIRE(compute.size() == 10);
  for (const double value : compute) CHECK(value > 0);
  if (world()->size() == 1) {
    for (const double value : exposed) CHECK(value == 0);
    for (const double value : samples("overlapped_time")) CHECK(value == 0);
    // On a single rank, without waits, the computing time is the trainer's step time.
    const auto step = samples("batch_time");
    for (std::size_t i = 0; i < step.size(); ++i) {
      CHECK(compute[i] >= step[i]);
    }
    return;
  }
  CHECK(std::ranges::all_of(exposed, [](double value) { return value > 0; }));
  CHECK(std::ranges::all_of(share, [](double value) { return value > 0 && value < 1; }));
}
