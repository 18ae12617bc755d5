// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/loadgen.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "d5/evaluation/scenario/isolated_scenario.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using d5::testing::TemporaryFolder;

namespace {

/// Answers by `answer` on the asker's stack, each sample with its own number.
class Numbers final : public SystemUnderTest {
 public:
  using Answer = std::function<void(Numbers&, const Query&)>;
  explicit Numbers(Answer answer = [](Numbers& numbers, const Query& q) { numbers.say(q); })
      : answer_(std::move(answer)) {}
  std::string name() const override { return "numbers"; }
  std::int64_t samples() const override { return 20; }
  void issue(std::span<const Query> queries) override {
    for (const Query& query : queries) answer_(*this, query);
  }
  void piece(const Query& query) const { progress({{.id = query.id}}); }
  void say(const Query& query) const {
    const std::byte byte{std::uint8_t(query.sample)};
    complete({{.id = query.id, .bytes = {&byte, 1}}});
  }

 private:
  Answer answer_;
};

ScenarioResult ask(const std::string& scenario, const Settings& settings,
                   const ScenarioOptions& options, const Numbers::Answer& answer) {
  return run_isolated([&] { return std::make_unique<Numbers>(answer); }, {scenario, settings},
                      options, {.most_seconds = 60});
}
ScenarioResult ask(const std::string& scenario, const Settings& settings,
                   const ScenarioOptions& options = {}) {
  return ask(scenario, settings, options, [](Numbers& numbers, const Query& q) { numbers.say(q); });
}

bool absent() {
  if (!loadgen_version().empty()) return false;
  Numbers numbers;
  CHECK_THROWS_AS(scenarios().at("server").make()->run(numbers, {}), Unsupported);
  WARN("d5 was built without LoadGen");
  return true;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("LoadGen's scenarios run to the end, and their records are as many as it counts") {
  if (absent()) return;
  const TemporaryFolder folder;
  const std::string name = GENERATE("single_stream", "multi_stream", "server", "offline");
  const Settings settings = name == "server" ? Settings{{"rate", 2000}} : Settings{};
  const auto result =
      ask(name, settings, {.least_queries = 700, .seed = 3, .log_folder = folder / "logs"});
  CAPTURE(name, result.reason);
  CHECK(result.status != Status::failed);
  CHECK(result.conditions.at("loadgen_result") == "VALID");
  CHECK(result.conditions.at("loadgen") == loadgen_version());
  const std::size_t per_query = name == "multi_stream" ? 8 : 1;
  CHECK(result.queries.size() == 700 * per_query);
  CHECK(std::size_t(result.samples_per_query) == per_query);
  for (const QueryRecord& query : result.queries) {
    CHECK(query.scheduled <= query.issued);
    CHECK(query.issued <= query.ended);
  }
  // Under LoadGen's own names, and no trace.
  for (const char* log : {"summary.txt", "detail.txt", "accuracy.json"}) {
    CHECK(std::filesystem::exists(folder / (std::string("logs/mlperf_log_") + log)));
  }
  CHECK(std::filesystem::file_size(folder / "logs/mlperf_log_trace.json") == 0);
}

TEST_CASE("latencies are LoadGen's own") {
  if (absent()) return;
  const TemporaryFolder folder;
  const std::string name = GENERATE("single_stream", "server");
  const Settings settings = name == "server" ? Settings{{"rate", 300}} : Settings{};
  const auto result = ask(name, settings, {.least_queries = 200, .log_folder = folder / "logs"},
                          [](Numbers& numbers, const Query& query) {
                            std::this_thread::sleep_for(std::chrono::milliseconds(2));
                            numbers.say(query);
                          });
  const std::string summary = text_of(folder / "logs/mlperf_log_summary.txt");
  const auto told = [&](const std::string& what) {
    const auto at = summary.find(what);
    REQUIRE(at != std::string::npos);
    return std::stod(summary.substr(summary.find(':', at) + 1)) * 1e-9;
  };
  auto latencies = query_latencies(result);
  std::ranges::sort(latencies);
  // Both read the clock when the answer comes, some 100 ns apart; threads are interrupted between.
  CHECK(latencies.front() == Approx(told("Min latency (ns)")).margin(5e-5));
  CHECK(latencies[180] == Approx(told("90.00 percentile latency (ns)")).margin(5e-4));
}

TEST_CASE("an accuracy run by LoadGen asks for every sample, and keeps each answer") {
  if (absent()) return;
  const std::string name = GENERATE("single_stream", "multi_stream", "server", "offline");
  const Settings settings = name == "server" ? Settings{{"rate", 1000}} : Settings{};
  const auto result = ask(name, settings, {.mode = ScenarioOptions::Mode::accuracy});
  CAPTURE(name, result.reason);
  CHECK(result.status == Status::passed);
  std::set<std::int64_t> samples;
  for (const KeptAnswer& answer : result.answers) {
    samples.insert(answer.sample);
    CHECK(answer.bytes == std::vector{std::byte{std::uint8_t(answer.sample)}});
  }
  CHECK(samples.size() == 20);
}

TEST_CASE("a server's rate and bound are found by asking, and told") {
  if (absent()) return;
  const auto slow = [](Numbers& numbers, const Query& query) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    numbers.say(query);
  };
  const auto result = ask("server", {}, {.least_queries = 20}, slow);
  const auto told = [&](const char* metric) {
    const auto place = std::ranges::find(result.measurements, metric, &Measurement::metric);
    REQUIRE(place != result.measurements.end());
    return place->samples.at(0);
  };
  // Sleeping takes 20 ms or more.
  CHECK(told("offered_rate") <= 25);
  // Half of one a query, times what is kept by all but one of 200 runs of 20 queries.
  CHECK(told("offered_rate") * told("target_latency") == Approx(std::log(20 / 0.0025)));
}

TEST_CASE("a server's bound of centuries is held by every answer") {
  if (absent()) return;
  const auto result =
      ask("server", {{"rate", 2000}, {"target_latency", 1e11}},
          {.most_seconds = std::numeric_limits<double>::infinity(), .least_queries = 700});
  CAPTURE(result.reason);
  CHECK(result.conditions.at("loadgen_result") == "VALID");
}

TEST_CASE("a server is asked as often as LoadGen needs to be sure with one late answer") {
  // Whether at most one late answer of n is less likely than 0.01, if each is late with probability
  // 0.01.
  const auto unlikely = [](std::int64_t n) {
    return std::pow(0.99, n) + double(n) * 0.01 * std::pow(0.99, n - 1) <= 0.01;
  };
  const auto usual = scenarios().at("server").make()->usual_length().queries;
  CHECK(unlikely(usual));
  CHECK_FALSE(unlikely(usual - 1));
}

TEST_CASE("a run that LoadGen calls invalid is failed, with its reason") {
  if (absent()) return;
  const auto slow = [](Numbers& numbers, const Query& query) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    numbers.say(query);
  };
  const auto late =
      ask("server", {{"rate", 1000}}, {.least_queries = 100, .latency_seconds = 0.01}, slow);
  CHECK(late.status == Status::failed);
  CHECK(late.conditions.at("loadgen_result") == "INVALID");
  CHECK_THAT(late.reason, Catch::Contains("Reduce target QPS to improve latency"));
  const auto few = ask("single_stream", {}, {.least_queries = 10});
  CHECK_THAT(few.reason, Catch::Contains("early stopping"));
  const auto short_one = ask("single_stream", {{"expected_latency", 1}}, {.least_seconds = 0.2});
  CHECK_THAT(short_one.reason, Catch::Contains("Ran out of generated queries"));
}

TEST_CASE("what a system does wrong ends LoadGen's run, not its process") {
  if (absent()) return;
  const std::string name = GENERATE("single_stream", "offline", "server");
  const Settings settings = name == "server" ? Settings{{"rate", 1000}} : Settings{};
  CAPTURE(name);
  const auto reason = [&](const Numbers::Answer& answer) {
    // A rate, so that nobody is asked before.
    const Settings chosen = name == "offline"         ? Settings{{"rate", 10}}
                            : name == "single_stream" ? Settings{{"expected_latency", 0.001}}
                                                      : settings;
    const auto result = ask(name, chosen, {.least_queries = 64, .answer_seconds = 0.3}, answer);
    CHECK(result.status == Status::failed);
    return result.reason;
  };
  CHECK_THAT(reason([](Numbers&, const Query&) { throw NumericError("NaN"); }),
             Catch::Contains("64 of 64 samples failed, the first with: NaN"));
  CHECK_THAT(reason([](Numbers&, const Query&) { throw 1; }),
             Catch::Contains("an exception of unknown type"));
  CHECK_THAT(reason([](Numbers& numbers, const Query& query) {
               numbers.say(query);
               numbers.say(query);
             }),
             Catch::Contains("64 answers came to samples that had one"));
  CHECK_THAT(reason([](Numbers& numbers, const Query& query) {
               if (query.id % 64 != 5) numbers.say(query);
             }),
             Catch::Contains("had no answer within 0.3 s"));
  CHECK_THAT(reason([](Numbers&, const Query&) { std::abort(); }), Catch::Contains("SIGABRT"));
}

TEST_CASE("a system that never returns is ended with its process") {
  const std::string name = GENERATE("single_stream", "closed_loop");
  if (name == "single_stream" && absent()) return;
  const auto result = run_isolated(
      [] {
        return std::make_unique<Numbers>([](Numbers&, const Query&) {
          for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
        });
      },
      {name, {}}, {}, {.most_seconds = 0.5});
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, Catch::Contains("no answer within 0.5 s"));
}

TEST_CASE("offline asks all at once, so its latency need not settle") {
  if (absent()) return;
  const auto slower = [](Numbers& numbers, const Query& query) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    numbers.say(query);
  };
  const auto offline = ask("offline", {{"rate", 2000}}, {.least_queries = 200}, slower);
  CHECK(offline.status == Status::passed);
  CHECK_FALSE(offline.conditions.contains("steady_from"));
  CHECK(ask("single_stream", {}).conditions.contains("steady_from"));
}

TEST_CASE("settings that LoadGen would not end by are refused before it runs") {
  if (absent()) return;
  const TemporaryFolder folder;
  Numbers numbers;
  const auto run = [&](const std::string& scenario, const Settings& settings,
                       const ScenarioOptions& options = {}) {
    return scenarios().at(scenario).make(settings)->run(numbers, options);
  };
  const auto conf = [&](const std::string& text) {
    std::ofstream(folder / "user.conf") << text;
    return Settings{{"user_conf", folder / "user.conf"}};
  };
  CHECK_THROWS_WITH(run("server", conf("*.Server.target_qps = 0\n")),
                    Catch::Contains("would never end"));
  CHECK_THROWS_WITH(run("server", conf("*.Server.mode = 3\n")), Catch::Contains("mode"));
  CHECK_THROWS_AS(run("server", conf("*.Server.target_qps = fast\n")), FormatError);
  CHECK_THROWS_AS(run("server", {{"user_conf", "nowhere.conf"}}), IoError);
  CHECK_THROWS_WITH(run("server", {{"rate", 1e6}}, {.least_seconds = 100}),
                    Catch::Contains("ready ahead"));
  std::ofstream(folder / "file") << "";
  CHECK_THROWS_AS(run("single_stream", {}, {.log_folder = folder / "file" + "/logs"}), IoError);
  CHECK_THROWS_AS(run("single_stream", {{"expected_latency", -1}}), ValueError);
  for (const char* scenario : {"single_stream", "multi_stream", "offline", "server"}) {
    CHECK_THROWS_WITH(run(scenario, {}, {.least_queries = 0}), Catch::Contains("asks 0 to"));
    CHECK_THROWS_WITH(run(scenario, {}, {.least_seconds = NAN}), Catch::Contains("lasts from nan"));
  }
}

TEST_CASE("mlperf.conf and a user's file say what the run does not") {
  if (absent()) return;
  const TemporaryFolder folder;
  std::ofstream(folder / "user.conf") << "# quick\n*.MultiStream.samples_per_query = 4\n"
                                         "*.MultiStream.min_duration = 0\n"
                                         "*.MultiStream.min_query_count = 30\n";
  const auto result =
      ask("multi_stream", {{"model", "resnet50"}, {"user_conf", folder / "user.conf"}},
          {.log_folder = folder / "logs"});
  CHECK(result.samples_per_query == 4);
  CHECK(result.queries.size() == 120);
  // The value in mlperf.conf, for any model.
  CHECK_THAT(text_of(folder / "logs/mlperf_log_summary.txt"),
             Catch::Contains("qsl_rng_seed : 2085463073848966840"));
}

TEST_CASE("LoadGen runs one test at a time") {
  if (absent()) return;
  Numbers outer([](Numbers& self, const Query& query) {
    self.say(query);
    Numbers inner;
    CHECK_THROWS_WITH(scenarios().at("offline").make({{"rate", 1}})->run(inner, {}),
                      Catch::Contains("one test at a time"));
  });
  (void)scenarios().at("offline").make({{"rate", 1}})->run(outer, {.least_queries = 20});
}

namespace {

/// Answers in four pieces of a token each, 2 ms apart; the first comes after 3 ms.
void tick(Numbers& numbers, const Query& query, int tokens = 4) {
  for (int i = 0; i < tokens; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 3 : 2));
    numbers.piece(query);
  }
  numbers.say(query);
}

}  // namespace

TEST_CASE("LoadGen's latencies of tokens are those of the pieces") {
  if (absent()) return;
  const TemporaryFolder folder;
  const auto result = ask("server", {{"rate", 20}, {"target_ttft", 5}, {"target_tpot", 5}},
                          {.least_queries = 64, .percentile = 0.9, .log_folder = folder / "logs"},
                          [](Numbers& numbers, const Query& query) { tick(numbers, query); });
  CAPTURE(result.reason);
  CHECK(result.conditions.at("loadgen_result") == "VALID");
  CHECK(result.pieces.size() == 256);
  const std::string summary = text_of(folder / "logs/mlperf_log_summary.txt");
  const auto told = [&](const std::string& what) {
    const auto at = summary.find(what);
    CAPTURE(what, summary);
    REQUIRE(at != std::string::npos);
    return std::stod(summary.substr(summary.find(':', at) + 1)) * 1e-9;
  };
  const TokenTimes times = token_times(result);
  const double ttft = std::ranges::min(times.ttft), tpot = std::ranges::min(times.tpot);
  CHECK(ttft == Approx(told("Min First Token latency (ns)")).margin(5e-5));
  CHECK(tpot == Approx(told("Min Time per Output Token (ns)")).margin(5e-5));
}

TEST_CASE("answers that LoadGen would divide by zero for are refused, with the reason") {
  if (absent()) return;
  const auto reason = [](int tokens) {
    const auto result =
        ask("server", {{"rate", 100}, {"target_ttft", 5}}, {.least_queries = 30},
            [=](Numbers& numbers, const Query& query) { tick(numbers, query, tokens); });
    CHECK(result.status == Status::failed);
    return result.reason;
  };
  CHECK_THAT(reason(1), Catch::Contains("30 answers came without pieces, or have fewer than two"));
  CHECK_THAT(reason(0), Catch::Contains("30 answers came without pieces"));
}
