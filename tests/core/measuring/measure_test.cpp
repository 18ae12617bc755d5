// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/measure.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "tests/core/subjects.hpp"

using namespace d5;
using testing::subject;
using testing::wait;

namespace {

/// A choice of this very object, for one subject.
MetricChoice given(std::shared_ptr<Metric> metric) {
  return {[metric] { return metric; }};
}

/// Writes down what the engine calls.
struct Diary : Metric {
  std::string name() const override { return "diary"; }
  std::string unit() const override { return "1"; }
  Quantity quantity() const override { return Quantity::other; }
  int reruns() const override { return runs; }
  void begin(int) override { text += "begin "; }
  void end() override { text += "end "; }
  void sample(double) override { text += "sample "; }
  void summarise(Measurement& result) const override { result.samples = {1}; }
  int runs = 1;
  std::string text;
};

}  // namespace

TEST_CASE("a measured time is never below the time that its subject waits") {
  const auto results = measure({subject("wait", [] { wait(2e-4); })}, {"time"});
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

TEST_CASE("a tiny subject is called many times a sample, and the time of one call is recorded") {
  long calls = 0;
  const auto results =
      measure({subject("count", [&] { ++calls; })}, {"time"}, {.seconds_per_sample = 1e-3});
  const Measurement& time = results.at(0);
  const long repetitions = time.conditions.at("repetitions").number().value();
  CHECK(repetitions > 1000);
  // Three warm-up calls, 1 + 2 + 4 + ... + repetitions while calibrating, 30 samples.
  CHECK(calls == 3 + (2 * repetitions - 1) + 30 * repetitions);
  CHECK(summarise(time.samples).median < 1e-6);
}

TEST_CASE("prepare and waiting for the device stand around the clock, metrics around both") {
  auto diary = std::make_shared<Diary>();
  std::string& text = diary->text;
  const Subject one{.run = [&] { text += "run "; },
                    .prepare = [&] { text += "prepare "; },
                    .synchronise = [&] { text += "synchronise "; }};
  CHECK(measure({one}, {given(diary)}, {.warmup = 1, .seconds_per_sample = 0}).size() == 1);
  const std::string run = "synchronise run synchronise ";
  CHECK(text == "prepare " + run        // warm-up
                    + "prepare " + run  // calibration
                    + "prepare begin " + run + "end sample ");
}

TEST_CASE("the engine makes as many runs as the metric that wants most") {
  auto one = std::make_shared<Diary>(), many = std::make_shared<Diary>();
  many->runs = 5;
  int calls = 0;
  const auto results = measure({subject("s", [&] { ++calls; })}, {given(one), given(many)},
                               {.warmup = 0, .seconds_per_sample = 0});
  CHECK(calls == 1 + 5);
  CHECK(results.size() == 2);
  CHECK(results[0].status == Status::passed);
}

TEST_CASE("misspelt metrics, settings and options are refused before anything runs") {
  int calls = 0;
  const Subject one = subject("s", [&] { ++calls; });
  CHECK_THROWS_WITH(measure({one}, {"tine"}), Catch::Contains("time"));
  CHECK_THROWS_AS(measure({one}, {"time:quickly=yes"}), NotFound);
  CHECK_THROWS_WITH(MetricChoice("time:quickly"), Catch::Contains("KEY=VALUE"));
  CHECK_THROWS_AS(measure({one}, {"time"}, {.samples = 0}), ValueError);
  CHECK(calls == 0);
}

TEST_CASE("metric objects are not shared between measurements") {
  const auto diary = std::make_shared<Diary>();
  const Subject one = subject("s", [] {});
  CHECK(measure({one}, {given(diary)}, {.samples = 1}).size() == 1);
  CHECK_THROWS_AS(measure({one}, {given(diary)}), ValueError);
  CHECK_THROWS_AS(measure({one}, {given(nullptr)}), ValueError);
  // One object cannot serve two subjects either; a name makes one for each.
  CHECK_THROWS_AS(measure({one, one}, {given(std::make_shared<Diary>())}), ValueError);
  CHECK(measure({one, one}, {"time"}, {.samples = 1}).size() == 2);
}

TEST_CASE("a subject that throws becomes a failed record, or an unsupported one") {
  int calls = 0;
  const auto failed = measure({subject("s",
                                       [&] {
                                         if (++calls == 10) throw std::runtime_error("out of luck");
                                       })},
                              {"time"}, {.seconds_per_sample = 0});
  CHECK(failed.at(0).status == Status::failed);
  CHECK(failed.at(0).reason == "out of luck");
  CHECK(failed.at(0).samples.size() == 5);  // what was measured before; 3 warm-ups, 1 calibration
  CHECK(failed.at(0).metric == "time");
  const auto refused =
      measure({subject("s", [] { throw Unsupported("no float8 here"); })}, {"time"});
  CHECK(refused.at(0).status == Status::unsupported);
  const auto odd = measure({subject("s", [] { throw 1; })}, {"time"});
  CHECK(odd.at(0).status == Status::failed);
  CHECK(odd.at(0).reason != "");
}

TEST_CASE("a cold subject runs once a sample; if it is too short for the clock, that is said") {
  const auto results =
      measure({subject("s", [] {})}, {"time"}, {.most_seconds = 5, .cold_cache = true});
  CHECK(results.at(0).conditions.at("cache") == "cold");
  CHECK(results.at(0).conditions.at("repetitions") == "1");
  CHECK(results.at(0).status == Status::mistrusted);
  CHECK_THAT(results.at(0).reason, Catch::Contains("the clock resolves"));
}

namespace {

/// Hears whether it hangs in a list; counts what it hears.
struct Bell : Event {
  int rings = 0;
};
struct BellMetric final : Diary, Bell {
  int reruns() const override { return kAsAsked; }
  void summarise(Measurement& result) const override { result.samples.assign(30, double(rings)); }
};

/// A subject that rings whatever bells hang in `list`.
Subject tower(EventList& list) {
  Subject result = subject("tower", [&list] {
    std::vector<Bell*> bells;
    list.collect(bells);
    for (auto* bell : bells) ++bell->rings;
  });
  result.events = {&list};
  return result;
}

}  // namespace

TEST_CASE("a metric that is an event hangs in the subject's lists during its own runs alone") {
  EventList list;
  std::size_t runs = 0, observed = 0;
  Subject one = tower(list);
  one.run = [&, ring = one.run] {
    ++runs;
    observed += list.all().size();
    ring();
  };
  const auto results = measure({one}, {"time", given(std::make_shared<BellMetric>())},
                               {.warmup = 2, .seconds_per_sample = 0});
  // Two warm-ups, a calibration, thirty runs that only the clock watches, and thirty with the bell.
  CHECK(runs == 2 + 1 + 60);
  CHECK(observed == 30);
  CHECK(list.empty());
  REQUIRE(results.size() == 2);
  CHECK(results[0].samples.size() == 30);
  CHECK(results[1].samples.at(0) == 30);
}

TEST_CASE("a metric that is an event is taken down when the subject throws") {
  EventList list;
  Subject one = tower(list);
  int calls = 0;
  one.run = [&calls] {
    if (++calls > 10) throw ValueError("worn out");
  };
  const auto results = measure({one}, {given(std::make_shared<BellMetric>())});
  CHECK(results.at(0).status == Status::failed);
  CHECK(list.empty());
}

TEST_CASE("a subject that runs once runs once, with all metrics around it") {
  EventList list;
  Subject one = tower(list);
  one.life = Subject::Life::once;
  int calls = 0;
  one.run = [&calls, ring = one.run] {
    ++calls;
    ring();
  };
  const auto bell = std::make_shared<BellMetric>();
  const auto results = measure({one}, {"time", given(bell), "cpu_time"});
  CHECK(calls == 1);
  CHECK(bell->rings == 1);
  CHECK(results.at(0).samples.size() == 1);
  CHECK(results.at(0).status == Status::mistrusted);
  CHECK_FALSE(results.at(0).conditions.contains("warmup"));
}

TEST_CASE("the record that a subject brings is that of its measurements") {
  Subject one = subject("gemm", [] { wait(2e-4); });
  one.record.command = "run gemm";
  one.record.framework = "toy";
  one.record.conditions["batch"] = identity(4);
  one.record.artefacts = {{.name = "gemm.onnx", .sha256 = "00"}};
  for (const auto& record : measure({one}, {"time", "cpu_time"}, {.samples = 2})) {
    CHECK(record.subject == "gemm");
    CHECK(record.command == "run gemm");
    CHECK(record.framework == "toy");
    CHECK(record.conditions.at("batch") == "4");
    CHECK(record.artefacts == one.record.artefacts);
  }
}

TEST_CASE("rates follow the time of a subject that says its work") {
  Subject one = subject("gemm", [] { wait(1e-4); });
  one.work = {.flop = 1000, .samples = 4};
  const auto results = measure({one}, {"time", "cpu_time"});
  REQUIRE(results.size() == 4);
  CHECK(results[1].metric == "flop_rate");
  CHECK(results[1].unit == "flop/s");
  CHECK(results[2].metric == "sample_rate");
  CHECK(results[3].metric == "cpu_time");
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(results[1].samples[i] * results[0].samples[i] == Approx(1000));
    CHECK(results[2].samples[i] * results[0].samples[i] == Approx(4));
  }
}

TEST_CASE("the clock goes forward, and its cost is known") {
  const double before = now_seconds();
  CHECK(now_seconds() >= before);
  CHECK(clock_cost().seconds_per_read > 0);
  CHECK(clock_cost().seconds_per_read < 1e-4);
  CHECK(clock_cost().resolution_seconds > 0);
}

TEST_CASE("each sample of each subject is reported, for progress") {
  int told = 0;
  const Subject nothing{.run = [] {}};
  (void)measure({nothing, nothing}, {"time"}, {.samples = 4, .on_sample = [&] { ++told; }});
  CHECK(told == 2 * 4);
}
