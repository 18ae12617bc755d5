// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/served_predictor.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "tests/evaluation/few_threads.hpp"

using namespace d5;

namespace {

/// Each sample's answer is its number, after `seconds`.
AnswerBatch served_numbers(double seconds = 0) {
  return [seconds](std::span<const std::int64_t> samples) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    BatchAnswers answers;
    for (const std::int64_t sample : samples) answers.push_back({std::byte(sample)});
    return answers;
  };
}

ScenarioResult ask_served(SystemUnderTest& system, const std::string& name,
                          const Settings& settings, const ScenarioOptions& options) {
  return scenarios().at(name).make(settings)->run(system, options);
}

std::int32_t largest_batch(const ScenarioResult& result) {
  return std::ranges::max(result.queries, {}, &QueryRecord::batch).batch;
}

}  // namespace

TEST_CASE("a served predictor answers each sample, whatever the batches") {
  const int instances = GENERATE(1, 3);
  const std::int64_t largest = GENERATE(1, 4, 64);
  ServedPredictor served("served_numbers", 50, [](int) { return served_numbers(1e-4); },
                         {.instances = instances, .largest_batch = largest, .longest_wait = 1e-3});
  const auto result =
      ask_served(served, "closed_loop", {{"users", 10}}, {.mode = ScenarioOptions::Mode::accuracy});
  CAPTURE(instances, largest, result.reason);
  CHECK(result.status == Status::passed);
  REQUIRE(result.answers.size() == 50);
  for (const KeptAnswer& answer : result.answers) {
    CHECK(answer.bytes == std::vector{std::byte(answer.sample)});
  }
  CHECK(largest_batch(result) <= std::min<std::int64_t>(largest, 10));
  for (const QueryRecord& query : result.queries) {
    CHECK(query.issued <= query.begun);
    CHECK(query.begun <= query.ended);
  }
}

TEST_CASE("a batch waits until it is full, and no longer") {
  ServedPredictor served("served_numbers", 8, [](int) { return served_numbers(); },
                         {.largest_batch = 8, .longest_wait = 1000});
  const auto result = ask_served(served, "batched", {{"batch", 8}}, {.least_queries = 20});
  CHECK(result.queries.size() == 160);
  for (const QueryRecord& query : result.queries) CHECK(query.batch == 8);
}

TEST_CASE("a batch that does not fill is taken when its first query has waited") {
  ServedPredictor served("served_numbers", 8, [](int) { return served_numbers(); },
                         {.largest_batch = 8, .longest_wait = 0.05});
  const auto result = ask_served(served, "batched", {{"batch", 3}}, {.least_queries = 3});
  REQUIRE(result.queries.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) {
    const QueryRecord& query = result.queries[i];
    CHECK(query.batch == 3);
    if (i < 6) CHECK(query.begun - query.issued >= 50'000'000);  // the last ones wait for nobody
  }
}

TEST_CASE("no batch waits to be fuller after the last query") {
  ServedPredictor served("served_numbers", 8, [](int) { return served_numbers(); },
                         {.largest_batch = 100, .longest_wait = 1000});
  const auto result =
      ask_served(served, "constant", {{"rate", 1000}}, {.least_queries = 7, .answer_seconds = 30});
  CHECK(result.status != Status::failed);
  CHECK(largest_batch(result) == 7);
}

TEST_CASE("each instance is opened and used on a thread of its own") {
  std::mutex mutex;
  std::set<std::thread::id> opened;
  std::atomic<int> strangers = 0;
  {
    ServedPredictor served("served_numbers", 10,
                           [&](int) -> AnswerBatch {
                             const auto home = std::this_thread::get_id();
                             const std::lock_guard lock(mutex);
                             opened.insert(home);
                             return [&strangers, home](std::span<const std::int64_t> samples) {
                               strangers += std::this_thread::get_id() != home;
                               return BatchAnswers(samples.size());
                             };
                           },
                           {.instances = 4});
    (void)ask_served(served, "closed_loop", {{"users", 8}}, {.least_queries = 200});
  }
  CHECK(opened.size() == 4);
  CHECK(strangers == 0);
}

TEST_CASE("what an instance does wrong fails its batch, and the next is answered") {
  const auto reason = [](const AnswerBatch& answer) {
    ServedPredictor served("faulty", 10, [&](int) { return answer; });
    const auto result = ask_served(served, "closed_loop", {}, {.least_queries = 40});
    CHECK(result.status == Status::failed);
    CHECK(std::ranges::count(result.queries, Status::failed, &QueryRecord::status) == 20);
    return result.reason;
  };
  CHECK_THAT(reason([n = 0](auto samples) mutable {
               if (n++ % 2) throw NumericError("output 'scores' is NaN");
               return BatchAnswers(samples.size());
             }),
             Catch::Contains("20 of 40 samples failed, the first with: output 'scores' is NaN"));
  CHECK_THAT(reason([n = 0](auto samples) mutable {
               return BatchAnswers(samples.size() + std::size_t(n++ % 2));
             }),
             Catch::Contains("2 answers to 1 samples"));
  CHECK_THAT(reason([n = 0](auto samples) mutable {
               if (n++ % 2) throw 5;
               return BatchAnswers(samples.size());
             }),
             Catch::Contains("an exception of unknown type"));
}

TEST_CASE("an instance that cannot be opened, and options that do not fit, are refused") {
  CHECK_THROWS_WITH(ServedPredictor("broken", 1,
                                    [](int instance) -> AnswerBatch {
                                      if (instance == 1) throw IoError("no such file");
                                      return served_numbers();
                                    },
                                    {.instances = 3}),
                    "no such file");
  const auto refuse = [](const ServedOptions& options) {
    CHECK_THROWS_AS(ServedPredictor(
                        "served_numbers", 1, [](int) { return served_numbers(); }, options),
                    ValueError);
  };
  refuse({.instances = 0});
  refuse({.largest_batch = 0});
  refuse({.longest_wait = -1});
}

TEST_CASE("more instances than the system makes threads are refused, and the others ended") {
  const FewThreads few;
  CHECK_THROWS_WITH(ServedPredictor("many", 1, [](int) { return served_numbers(); },
                                    {.instances = FewThreads::kTooMany}),
                    Catch::StartsWith("many: the system makes no more threads"));
}
