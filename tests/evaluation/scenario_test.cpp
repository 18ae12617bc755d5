// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "evaluation/load/usual_load.hpp"
#include "tests/evaluation/simulated_system.hpp"

using namespace d5;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

ScenarioResult run(const std::string& name, const Settings& settings, SystemUnderTest& system,
                   const ScenarioOptions& options) {
  return scenarios().at(name).make(settings)->run(system, options);
}

/// Times of service in ns with a mean of 20 ms: all the same, anything up to twice that,
/// exponential.
std::function<std::int64_t(std::int64_t)> service_times(const std::string& law,
                                                        std::uint64_t seed) {
  return [law, random = RandomStream(seed)](auto) mutable {
    const double draw = random.uniform_double();
    const double factor = law == "fixed" ? 1 : law == "uniform" ? 2 * draw : -std::log1p(-draw);
    return std::int64_t(20e6 * factor);
  };
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

/// Answers at once, as `answer` says, on the asker's stack.
class Answering final : public SystemUnderTest {
 public:
  using Answer = std::function<void(const Query&, const std::function<void(const QueryAnswer&)>&)>;
  explicit Answering(Answer answer) : answer_(std::move(answer)) {}
  std::string name() const override { return "answering"; }
  std::int64_t samples() const override { return 5; }
  void issue(std::span<const Query> queries) override {
    for (const Query& query : queries) {
      answer_(query, [this](const QueryAnswer& answer) { complete({answer}); });
    }
  }

 private:
  Answer answer_;
};

}  // namespace

TEST_CASE("a system that is too slow for its schedule is late by all that waited before") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return 20 * kMillisecond; });
  const auto result = run("constant", {{"rate", 100}}, system,
                          {.least_queries = 50, .answer_seconds = 10, .clock = clock});
  REQUIRE(result.queries.size() == 50);
  const auto latencies = query_latencies(result);
  for (int i = 0; i < 50; ++i) CHECK(latencies[std::size_t(i)] == Approx(0.020 + 0.010 * i));
  CHECK(mean(query_lags(result)) == 0);
  CHECK(result.queries[49].begun - result.queries[49].issued == 49 * 10 * kMillisecond);
  CHECK(throughput(result) == Approx(50));
  CHECK(system.flushes == 1);
}

TEST_CASE("a system that holds its asker up is late all the same: no omission is coordinated") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Answering system([&](const Query& query, const auto& answer) {
    clock->pass(20 * kMillisecond);
    answer({.id = query.id});
  });
  const auto result =
      run("constant", {{"rate", 100}}, system, {.least_queries = 50, .clock = clock});
  const auto latencies = query_latencies(result), lags = query_lags(result);
  for (int i = 0; i < 50; ++i) {
    CHECK(latencies[std::size_t(i)] == Approx(0.020 + 0.010 * i));
    CHECK(lags[std::size_t(i)] == Approx(0.010 * i));
  }
  CHECK(result.status == Status::mistrusted);
  CHECK_THAT(result.reason, Catch::Contains("asked late"));
}

TEST_CASE("a rate that nobody tells is half of what the system answers one after the other") {
  const std::string name = GENERATE("constant", "poisson", "gamma", "bursts");
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return 20 * kMillisecond; });
  const auto result = run(name, {}, system, {.least_queries = 5000, .clock = clock});
  const auto told = std::ranges::find(result.measurements, "offered_rate", &Measurement::metric);
  REQUIRE(told != result.measurements.end());
  CHECK(told->samples.at(0) == Approx(25));
  // As many arrive, and the half-loaded queue answers as many.
  CHECK(throughput(result) == Approx(25).epsilon(name == "bursts" ? 0.2 : 0.1));
  CHECK(result.queries.front().scheduled >= result.queries.front().begun - 20 * kMillisecond);
}

TEST_CASE("an M/G/1 queue that is asked as usual keeps the usual bound, run by run") {
  constexpr std::int64_t kQueries = 662;  // a server's number: one late answer is allowed
  constexpr int kRuns = 200;
  int kept = 0;
  const std::string law = GENERATE("fixed", "uniform", "exponential");
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto clock = std::make_shared<VirtualLoadClock>();
    SimulatedSystem system(clock, service_times(law, seed));
    const auto usual = detail::usual_load(system, {.seed = seed, .clock = clock});
    const double target = detail::usual_target(usual.service, double(kQueries));
    const auto result = run("poisson", {{"rate", usual.rate}}, system,
                            {.least_queries = kQueries, .seed = seed, .clock = clock});
    const auto is_late = [&](double latency) { return latency > target; };
    kept += std::ranges::count_if(query_latencies(result), is_late) <= 1;
  }
  CAPTURE(law);
  CHECK(kept > 0.99 * kRuns);
}

TEST_CASE("a bound is no wider than an M/M/1 queue needs") {
  // Its latency T has P(T > t) = exp(-t / (2 E)) at load 1/2: Kleinrock, "Queueing Systems"
  // I, 5.12.
  const double needed = -2 * std::log(0.005 / 662), usual = detail::usual_target(1, 662);
  CHECK(usual >= needed);
  CHECK(usual < 1.1 * needed);
}

TEST_CASE("at most one of a hundred usual runs of an honest system is mistrusted") {
  constexpr int kRuns = 60;
  int mistrusted = 0, all = 0;
  for (const std::string name : {"constant", "poisson", "gamma", "bursts", "closed_loop"}) {
    for (const std::string law : {"fixed", "uniform", "exponential"}) {
      for (std::uint64_t seed = 0; seed < kRuns; ++seed, ++all) {
        const auto clock = std::make_shared<VirtualLoadClock>();
        SimulatedSystem system(clock, service_times(law, seed));
        const auto length = scenarios().at(name).make()->usual_length();
        const auto result = run(name, {}, system,
                                {.least_seconds = length.seconds,
                                 .least_queries = length.queries,
                                 .seed = seed,
                                 .clock = clock});
        mistrusted += result.status != Status::passed;
      }
    }
  }
  CHECK(mistrusted <= all / 100);
}

TEST_CASE("a steady state is asked of every scenario but of those that ask all at once") {
  for (const std::string name :
       {"constant", "poisson", "gamma", "bursts", "closed_loop", "batched"}) {
    CAPTURE(name);
    const auto clock = std::make_shared<VirtualLoadClock>();
    SimulatedSystem system(clock, service_times("uniform", 1));
    const auto result = run(name, {}, system, {.least_queries = 60, .clock = clock});
    CHECK(result.conditions.contains("steady_from") == (name != "batched"));
  }
}

TEST_CASE("waiting in front of one server is as long as Pollaczek and Khinchine say") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const double rate = 100, load = 0.7;
  RandomStream random(3);
  const bool fixed = GENERATE(true, false);
  SimulatedSystem system(clock, [&](auto) {
    const double factor = fixed ? 1 : -std::log1p(-random.uniform_double());
    return std::int64_t(load / rate * factor * 1e9);
  });
  const auto result =
      run("poisson", {{"rate", rate}}, system,
          {.most_seconds = 1e6, .least_queries = 400'000, .seed = 5, .clock = clock});
  // Mean of an M/G/1 queue: service times (1 + load / (1 - load) * (1 + variation^2) / 2).
  const double variation = fixed ? 0 : 1, service = load / rate;
  const double expected = service * (1 + load / (1 - load) * (1 + variation * variation) / 2);
  CAPTURE(fixed);
  CHECK(mean(query_latencies(result)) == Approx(expected).epsilon(0.02));
  CHECK(throughput(result) == Approx(rate).epsilon(0.01));
  CHECK(result.status == Status::passed);
}

TEST_CASE("users who think keep a server as busy as their cycle allows") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return 2 * kMillisecond; });
  const auto ask = [&](int users) {
    return run("closed_loop", {{"users", users}, {"think", 0.018}}, system,
               {.least_queries = 4000, .clock = clock});
  };
  // A cycle of 20 ms; ten users fill the server, more of them wait in front of it.
  CHECK(throughput(ask(1)) == Approx(1 / 0.020).epsilon(1e-2));
  CHECK(throughput(ask(5)) == Approx(5 / 0.020).epsilon(1e-2));
  const auto crowd = ask(30);
  CHECK(throughput(crowd) == Approx(1 / 0.002).epsilon(1e-2));
  // Little: 30 users = throughput times (latency + thinking).
  CHECK(query_latencies(crowd).back() == Approx(30 * 0.002 - 0.018));
  CHECK(crowd.latency_from == LatencyFrom::issue);
}

TEST_CASE("queries of a batch are asked together, and end with their last sample") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return kMillisecond; });
  const auto result = run("batched", {{"batch", 8}}, system, {.least_queries = 20, .clock = clock});
  CHECK(result.samples_per_query == 8);
  CHECK(result.queries.size() == 160);
  for (const double latency : query_latencies(result)) CHECK(latency == Approx(0.008));
  CHECK(throughput(result) == Approx(1000));
}

TEST_CASE("an accuracy run asks for each sample once, and keeps every answer") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const std::string name = GENERATE("poisson", "closed_loop", "batched");
  Answering system([&](const Query& query, const auto& answer) {
    const std::byte byte{std::uint8_t(10 * query.sample)};
    answer({.id = query.id, .bytes = {&byte, 1}});
  });
  const Settings settings = name == "batched" ? Settings{{"batch", 3}} : Settings{};
  const auto result =
      run(name, settings, system, {.mode = ScenarioOptions::Mode::accuracy, .clock = clock});
  CAPTURE(name, result.reason);
  CHECK(result.status == Status::passed);
  REQUIRE(result.answers.size() == 5);
  for (int i = 0; i < 5; ++i) {
    const KeptAnswer& kept = result.answers[std::size_t(i)];
    CHECK(kept.sample == i);
    CHECK(kept.bytes == std::vector{std::byte{std::uint8_t(10 * i)}});
  }
}

TEST_CASE("samples are drawn alike among those that were loaded, and by the seed alone") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const auto asked = [&](std::uint64_t seed) {
    SimulatedSystem system(clock, [](auto) { return 1; });
    (void)run("constant", {}, system,
              {.least_queries = 3000, .performance_samples = 3, .seed = seed, .clock = clock});
    CHECK(system.loaded == std::vector<std::int64_t>{0, 1, 2});
    return system.asked;
  };
  const auto samples = asked(1);
  CHECK(samples == asked(1));
  CHECK(samples != asked(2));
  // Binomial: 1000 +- 5 standard deviations of 26.
  for (int i = 0; i < 3; ++i) CHECK(std::abs(std::ranges::count(samples, i) - 1000) < 130);
}

TEST_CASE("a run of few queries loads the samples that it will ask for, and no other") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const auto loads = [&](const char* name, double least_seconds) {
    SimulatedSystem system(clock, [](auto) { return kMillisecond; });
    system.sample_count = 1000;
    // Without a rate, some queries are sent before.
    const auto settings = name == std::string("constant") ? Settings{{"rate", 100}} : Settings{};
    (void)run(name, settings, system,
              {.least_seconds = least_seconds, .least_queries = 10, .seed = 3, .clock = clock});
    std::vector<std::int64_t> asked = system.asked;
    std::ranges::sort(asked);
    asked.erase(std::ranges::unique(asked).begin(), asked.end());
    CHECK(asked.size() > 5);
    return std::pair(system.loaded, asked);
  };
  for (const char* name : {"closed_loop", "constant", "batched"}) {
    CAPTURE(name);
    const auto [loaded, asked] = loads(name, 0);
    CHECK(loaded == asked);
  }
  CHECK(loads("closed_loop", 0.1).first.size() == 1000);  // how many it will ask nobody knows
}

TEST_CASE("no more queries are in flight than the bound allows") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return 20 * kMillisecond; });
  const auto result = run("constant", {{"rate", 100}}, system,
                          {.least_queries = 50, .most_in_flight = 3, .clock = clock});
  CHECK(system.most_waiting == 3);
  CHECK(query_latencies(result)[49] == Approx(0.020 + 0.010 * 49));
}

TEST_CASE("what a system does wrong makes its run invalid, with the reason") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const std::string name = GENERATE("constant", "closed_loop", "batched");
  CAPTURE(name);
  const auto invalid = [&](const Answering::Answer& answer, ScenarioOptions options = {}) {
    Answering system(answer);
    options.clock = clock;
    options.answer_seconds = 2;
    options.least_queries = 20;
    const auto result = run(name, {}, system, options);
    CHECK(result.status == Status::failed);
    for (const Measurement& record : result.measurements) CHECK(record.status == Status::failed);
    return result.reason;
  };
  CHECK_THAT(invalid([](const Query& query, const auto& answer) {
               answer({.id = query.id});
               answer({.id = query.id});
             }),
             Catch::Contains("20 answers came to samples that had one"));
  CHECK_THAT(invalid([](const Query&, const auto&) {}),
             Catch::Contains("had no answer within 2 s"));
  CHECK_THAT(invalid([](const Query& query, const auto& answer) {
               answer({.id = query.id});
               answer({.id = query.id + 1000});
             }),
             Catch::Contains("answers came to queries that were never issued"));
  CHECK_THAT(invalid([](const Query&, const auto&) { throw NumericError("the net\nis NaN"); }),
             Catch::Contains("20 of 20 samples failed, the first with: the net\\x0ais NaN"));
  CHECK_THAT(invalid([](const Query& query, const auto& answer) {
               answer({.id = query.id, .status = Status::failed, .reason = "out of memory"});
             }),
             Catch::Contains("out of memory"));
  CHECK_THAT(invalid(
                 [&](const Query& query, const auto& answer) {
                   clock->pass(3 * kMillisecond);
                   answer({.id = query.id});
                 },
                 {.deadline_seconds = 0.002}),
             Catch::Contains("20 of 20 answers came after their deadline"));
  CHECK_THAT(invalid(
                 [&](const Query& query, const auto& answer) {
                   clock->pass(3 * kMillisecond);
                   answer({.id = query.id});
                 },
                 {.latency_seconds = 0.002}),
             Catch::Contains("above the objective of 0.002 s"));
}

TEST_CASE("answers that come after a run are nobody's") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Query late;
  bool silent = true;
  Answering* self = nullptr;
  Answering system([&](const Query& query, const auto& answer) {
    if (silent) {
      late = query;
      return;
    }
    answer({.id = late.id});  // a query of the run before
    answer({.id = query.id});
  });
  self = &system;
  (void)run("closed_loop", {}, *self, {.least_queries = 1, .answer_seconds = 1, .clock = clock});
  silent = false;
  CHECK(run("closed_loop", {}, *self, {.least_queries = 60, .clock = clock}).status ==
        Status::passed);
}

TEST_CASE("a run that falls ever further behind its schedule ends") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Answering system([&](const Query& query, const auto& answer) {
    clock->pass(1000 * kMillisecond);
    answer({.id = query.id});
  });
  const auto result =
      run("constant", {{"rate", 1000}}, system,
          {.most_seconds = 5, .least_queries = 5000, .answer_seconds = 3, .clock = clock});
  CHECK(result.queries.size() == 9);
  CHECK_THAT(result.reason, Catch::Contains("longer than its schedule"));
}

TEST_CASE("a query that is due after centuries is not asked") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return 20 * kMillisecond; });
  const auto result =
      run("constant", {{"rate", 1e-11}}, system, {.least_queries = 3, .clock = clock});
  CHECK(result.queries.size() == 1);
  CHECK_THAT(result.reason, Catch::Contains("1 queries were asked, expected 3 or more: the next is "
                                            "due after 600 s"));
}

TEST_CASE("a query that failed has no latency, and is the latest for the objective") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Answering system([&](const Query& query, const auto& answer) {
    const bool is_refused = query.id % 2 == 0;
    if (!is_refused) clock->pass(430 * kMillisecond);
    answer({.id = query.id,
            .status = is_refused ? Status::failed : Status::passed,
            .reason = "HTTP 429"});
  });
  const auto result =
      run("closed_loop", {}, system, {.least_queries = 20, .latency_seconds = 1, .clock = clock});
  CHECK_THAT(result.reason, Catch::Contains("10 of 20 samples failed") &&
                                Catch::Contains("above the objective of 1 s"));
  const std::vector<double> latencies = query_latencies(result);
  CHECK(latencies.size() == 10);
  for (const double latency : latencies) CHECK(latency == Approx(0.430));
}

TEST_CASE("a run without an answer has no throughput, rather than one that is no number") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Answering system([&](const Query&, const auto&) { throw NumericError("broken"); });
  const auto result = run("closed_loop", {}, system, {.least_queries = 20, .clock = clock});
  const auto rate = std::ranges::find(result.measurements, "throughput", &Measurement::metric);
  REQUIRE(rate != result.measurements.end());
  CHECK(rate->status == Status::failed);
  CHECK(rate->samples.empty());
}

TEST_CASE("an interrupt ends a run that waits") {
  const auto stop = std::make_shared<std::stop_source>();
  const auto clock = std::make_shared<VirtualLoadClock>();
  Answering system([&](const Query&, const auto&) { stop->request_stop(); });
  ScenarioOptions options{.answer_seconds = 1e6, .clock = clock};
  options.interrupt.token = stop->get_token();
  CHECK_THROWS_AS(run("closed_loop", {}, system, options), Interrupted);
}

TEST_CASE("users who would wait for ever hear their answers") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return 20 * kMillisecond; });
  constexpr double kForEver = std::numeric_limits<double>::infinity();
  const auto result = run("closed_loop", {}, system,
                          {.least_queries = 50, .answer_seconds = kForEver, .clock = clock});
  CHECK(result.queries.size() == 50);
  CHECK(result.status == Status::passed);
}

TEST_CASE("options that do not fit are refused") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return 1; });
  const auto refuse = [&](const ScenarioOptions& options) {
    CHECK_THROWS_AS(run("closed_loop", {}, system, options), ValueError);
  };
  refuse({.least_seconds = 5, .most_seconds = 4});
  refuse({.least_queries = 0});
  refuse({.least_queries = 10, .most_queries = 9});
  refuse({.percentile = 1});
  refuse({.answer_seconds = 0});
  refuse({.keep_answers = 2});
  system.sample_count = 0;
  refuse({});
  CHECK_THROWS_AS(scenarios().at("constant").make({{"rate", -1}}), ValueError);
  CHECK_THROWS_WITH(scenarios().at("closed-loop"), Catch::Contains("closed_loop"));
}

TEST_CASE("answers may come from several threads at once") {
  struct Threaded final : SystemUnderTest {
    std::string name() const override { return "threaded"; }
    std::int64_t samples() const override { return 100; }
    void issue(std::span<const Query> queries) override {
      const std::vector<Query> mine(queries.begin(), queries.end());
      threads.emplace_back([this, mine] {
        for (const Query& query : mine) complete({{.id = query.id}});
      });
    }
    ~Threaded() override {
      for (auto& thread : threads) thread.join();
    }
    std::vector<std::thread> threads;
  };
  for (const auto& [name, settings] : {std::pair{"batched", Settings{{"batch", 16}}},
                                       {"closed_loop", {{"users", 4}}},
                                       {"constant", {{"rate", 5000}}}}) {
    Threaded system;
    const auto result = run(name, settings, system, {.least_queries = 100});
    CAPTURE(name, result.reason);
    CHECK(result.status != Status::failed);
    CHECK(std::ranges::all_of(result.queries, [](const QueryRecord& q) { return q.ended > 0; }));
  }
}
