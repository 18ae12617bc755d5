// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measurement.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <thread>
#include <vector>

#include "core/trust.hpp"
#include "d5/core/error.hpp"

using namespace d5;

namespace {

void wait(double seconds) {
  const double end = now_seconds() + seconds;
  while (now_seconds() < end) continue;
}

std::shared_ptr<Metric> time_metric() { return metrics().at("time").make(); }

/// Writes down what the engine calls.
struct Diary final : Metric {
  std::string name() const override { return "diary"; }
  std::string unit() const override { return "1"; }
  int reruns() const override { return runs; }
  void begin(int) override { text += "begin "; }
  void end() override { text += "end "; }
  void sample(double) override { text += "sample "; }
  void summarise(Measurement& result) const override { result.samples = {1}; }
  int runs = 1;
  std::string text;
};

Measurement with_samples(std::vector<double> samples) {
  Measurement result;
  result.samples = std::move(samples);
  return result;
}

}  // namespace

TEST_CASE("the time of a subject is never below what it takes") {
  const auto results = measure({.name = "wait", .run = [] { wait(2e-4); }}, {time_metric()});
  REQUIRE(results.size() == 1);
  const Measurement& time = results[0];
  CHECK(time.subject == "wait");
  CHECK(time.metric == "time");
  CHECK(time.unit == "s");
  CHECK(time.direction == Direction::lower_is_better);
  CHECK(time.samples.size() == 30);
  CHECK(*std::min_element(time.samples.begin(), time.samples.end()) >= 2e-4);
  CHECK(time.conditions.at("repetitions") == "1");
  CHECK(time.conditions.at("warmup") == "3");
  CHECK(time.conditions.at("cache") == "hot");
  CHECK(time.conditions.contains("threads"));
  CHECK(time.conditions.contains("pinning"));
}

TEST_CASE("a tiny subject is called many times a sample, and the time of one call is told") {
  long calls = 0;
  const auto results = measure({.name = "count", .run = [&] { ++calls; }}, {time_metric()},
                               {.seconds_per_sample = 1e-3});
  const Measurement& time = results.at(0);
  const long repetitions = std::stol(time.conditions.at("repetitions"));
  CHECK(repetitions > 1000);
  // Three warm-up calls, 1 + 2 + 4 + ... + repetitions while calibrating, 30 samples.
  CHECK(calls == 3 + (2 * repetitions - 1) + 30 * repetitions);
  CHECK(summarise(time.samples).median < 1e-6);
}

TEST_CASE("prepare and waiting for the device stand around the clock, metrics around both") {
  auto diary = std::make_shared<Diary>();
  std::string& text = diary->text;
  const Subject subject{.name = "s",
                        .run = [&] { text += "run "; },
                        .prepare = [&] { text += "prepare "; },
                        .synchronise = [&] { text += "synchronise "; }};
  CHECK(measure(subject, {diary}, {.warmup = 1, .seconds_per_sample = 0}).size() == 1);
  const std::string run = "synchronise run synchronise ";
  CHECK(text == "prepare " + run        // warm-up
                    + "prepare " + run  // calibration
                    + "prepare begin " + run + "end sample ");
}

TEST_CASE("the engine makes as many runs as the metric that wants most") {
  auto one = std::make_shared<Diary>(), many = std::make_shared<Diary>();
  many->runs = 5;
  int calls = 0;
  const auto results = measure({.name = "s", .run = [&] { ++calls; }}, {one, many},
                               {.warmup = 0, .seconds_per_sample = 0});
  CHECK(calls == 1 + 5);
  CHECK(results.size() == 2);
  CHECK(results[0].status == Status::passed);
}

TEST_CASE("metric objects are not shared between measurements") {
  const auto metric = time_metric();
  const Subject subject{.name = "s", .run = [] {}};
  CHECK(measure(subject, {metric}, {.samples = 1}).size() == 1);
  CHECK_THROWS_AS(measure(subject, {metric}), ValueError);
  CHECK_THROWS_AS(measure(subject, {nullptr}), ValueError);
  CHECK_THROWS_AS(measure(subject, {time_metric()}, {.samples = 0}), ValueError);
}

TEST_CASE("a subject that throws becomes a failed record, or an unsupported one") {
  int calls = 0;
  const auto failed = measure({.name = "s",
                               .run =
                                   [&] {
                                     if (++calls == 10) throw std::runtime_error("out of luck");
                                   }},
                              {time_metric()}, {.seconds_per_sample = 0});
  CHECK(failed.at(0).status == Status::failed);
  CHECK(failed.at(0).reason == "out of luck");
  CHECK(failed.at(0).samples.empty());
  CHECK(failed.at(0).metric == "time");
  const auto refused =
      measure({.name = "s", .run = [] { throw Unsupported("no float8 here"); }}, {time_metric()});
  CHECK(refused.at(0).status == Status::unsupported);
  const auto odd = measure({.name = "s", .run = [] { throw 1; }}, {time_metric()});
  CHECK(odd.at(0).status == Status::failed);
  CHECK(odd.at(0).reason != "");
}

TEST_CASE("too few samples are kept and mistrusted") {
  const auto few =
      measure({.name = "s", .run = [] { wait(1e-5); }}, {time_metric()}, {.samples = 7});
  CHECK(few.at(0).samples.size() == 7);
  CHECK(few.at(0).status == Status::mistrusted);
  CHECK_THAT(few.at(0).reason, Catch::Contains("7 samples; 30 are needed"));
  const auto late = measure({.name = "s", .run = [] { wait(0.02); }}, {time_metric()},
                            {.warmup = 0, .most_seconds = 0.05});
  CHECK(late.at(0).samples.size() >= 1);
  CHECK(late.at(0).samples.size() < 4);
  CHECK(late.at(0).status == Status::mistrusted);
}

TEST_CASE("a cold subject runs once a sample; if it is too short for the clock, that is said") {
  const auto results = measure({.name = "s", .run = [] {}}, {time_metric()},
                               {.most_seconds = 5, .cold_cache = true});
  CHECK(results.at(0).conditions.at("cache") == "cold");
  CHECK(results.at(0).conditions.at("repetitions") == "1");
  CHECK(results.at(0).status == Status::mistrusted);
  CHECK_THAT(results.at(0).reason, Catch::Contains("the clock resolves"));
}

TEST_CASE("samples that drift are mistrusted, samples that only scatter are not") {
  std::vector<double> steady, drifting;
  for (int i = 0; i < 30; ++i) {
    steady.push_back(1 + 0.3 * ((i * 7) % 10));
    drifting.push_back(1 + 0.01 * i);
  }
  Measurement result = with_samples(steady);
  detail::judge_samples(result, Metric::kAsAsked);
  CHECK(result.status == Status::passed);
  result = with_samples(drifting);
  detail::judge_samples(result, Metric::kAsAsked);
  CHECK(result.status == Status::mistrusted);
  // Medians 1.07 and 1.22 of the halves.
  CHECK(result.reason == "the samples drift: the second half is 14% higher than the first");
  result = with_samples(std::vector<double>(30, 0.0));
  detail::judge_samples(result, Metric::kAsAsked);
  CHECK(result.status == Status::passed);
}

TEST_CASE("a time is mistrusted where d5's threads had to share processors with other work") {
  const auto judged = [](double others, int own) {
    Measurement result;
    detail::judge_other_work(result, others, own, 4);
    return result.status;
  };
  CHECK(judged(0.1, 4) == Status::passed);
  CHECK(judged(2.9, 1) == Status::passed);
  CHECK(judged(1.5, 3) == Status::mistrusted);
  CHECK(judged(3.9, 1) == Status::mistrusted);
  CHECK(judged(0.1, 8) == Status::passed);  // more threads than processors are the user's own wish
}

TEST_CASE("the engine notices other processes at work") {
  // They keep every processor busy until they are killed.
  std::vector<pid_t> others;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (volatile int forever = 1; forever;) continue;
    }
    others.push_back(child);
  }
  const auto times = measure_interleaved({{.name = "s", .run = [] { wait(0.005); }}},
                                         {.samples = 60, .warmup = 0, .seconds_per_sample = 0});
  for (const pid_t child : others) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  CHECK(times[0].status == Status::mistrusted);
  CHECK_THAT(times[0].reason, Catch::Contains("other work kept"));
}

TEST_CASE("mistrust adds reasons and never hides a failure") {
  Measurement result;
  mistrust(result, "a");
  mistrust(result, "b");
  CHECK(result.reason == "a; b");
  result.status = Status::failed;
  mistrust(result, "c");
  CHECK(result.status == Status::failed);
  CHECK(result.reason == "a; b");
}

TEST_CASE("interleaved subjects take turns in random order, each once a round") {
  const auto order_of = [](std::uint64_t seed) {
    std::string order;
    const auto results = measure_interleaved({{.name = "a", .run = [&] { order += 'a'; }},
                                              {.name = "b", .run = [&] { order += 'b'; }},
                                              {.name = "c", .run = [&] { order += 'c'; }}},
                                             {.warmup = 0, .seconds_per_sample = 0}, seed);
    REQUIRE(results.size() == 3);
    CHECK(results[1].subject == "b");
    CHECK(results[1].samples.size() == 30);
    CHECK(results[1].conditions.contains("interleaved"));
    REQUIRE(order.size() == 3 + 180);  // one call each to calibrate
    // A turn is an untimed call and a sample of the same subject.
    std::string turns;
    for (std::size_t i = 3; i < order.size(); i += 2) {
      CHECK(order[i] == order[i + 1]);
      turns += order[i];
    }
    return turns;
  };
  const std::string order = order_of(1);
  int different = 0;
  for (std::size_t round = 0; round < 30; ++round) {
    std::string turn = order.substr(round * 3, 3);
    different += turn != order.substr(0, 3);
    std::sort(turn.begin(), turn.end());
    CHECK(turn == "abc");
  }
  CHECK(different > 10);
  CHECK(order_of(1) == order);
  CHECK(order_of(2) != order);
}

TEST_CASE("one subject's failure leaves the others measured") {
  int calls = 0;
  const auto results = measure_interleaved({{.name = "good", .run = [] { wait(1e-5); }},
                                            {.name = "bad",
                                             .run =
                                                 [&] {
                                                   if (++calls > 8) throw ValueError("worn out");
                                                 }}},
                                           {.seconds_per_sample = 0});
  CHECK(results.at(0).samples.size() == 30);
  CHECK(results.at(1).status == Status::failed);
  CHECK(results.at(1).reason == "worn out");
}

TEST_CASE("an interleaved comparison finds a true ratio") {
  const auto results = measure_interleaved(
      {{.name = "slow", .run = [] { wait(3e-4); }}, {.name = "fast", .run = [] { wait(1e-4); }}});
  const Comparison comparison = compare(results.at(0).samples, results.at(1).samples);
  CHECK(comparison.p_value < 1e-3);
  CHECK(comparison.ratio > 1.5);
}

TEST_CASE("the clock goes forward, and its cost is known") {
  const double before = now_seconds();
  CHECK(now_seconds() >= before);
  CHECK(clock_cost().seconds_per_read > 0);
  CHECK(clock_cost().seconds_per_read < 1e-4);
  CHECK(clock_cost().resolution_seconds > 0);
}
