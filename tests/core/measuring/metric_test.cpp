// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/metric.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "d5/core/measuring/measure.hpp"
#include "d5/core/measuring/rate.hpp"

using namespace d5;

namespace {

Measurement measure_one(const std::string& metric, std::function<void()> run,
                        const MeasureOptions& options = {}) {
  return measure({{.run = std::move(run)}}, {metric}, options).at(0);
}

}  // namespace

TEST_CASE("built-in metrics are in the registry, each with a summary, a name and a unit") {
  for (const auto& [name, entry] : metrics().entries()) {
    INFO(name);
    CHECK(entry.summary() != "");
    CHECK(entry.make()->name() == name);
    CHECK(entry.make()->unit() != "");
  }
  CHECK(metrics().find("time"));
  CHECK(metrics().find("cpu_time"));
  CHECK(metrics().find("peak_memory"));
  CHECK(metrics().find("energy"));
  CHECK(metrics().find("page_faults"));
  CHECK(metrics().find("voluntary_context_switches"));
}

TEST_CASE("hardware counters count what all threads did, or say why they do not") {
  constexpr int kTurns = 1'000'000;
  const auto turns = [] {
    for (int i = 0; i < kTurns; ++i) asm volatile("");  // two instructions each, at least
  };
  for (const char* name : {"instructions", "cycles", "cache_misses", "branch_misses"}) {
    INFO(name);
    const auto result = measure_one(name, turns, {.samples = 5, .seconds_per_sample = 0});
    if (result.status == Status::unsupported) {
      CHECK_THAT(result.reason, Catch::Contains("perf_event_open"));
      CHECK(result.samples.empty());
      continue;
    }
    REQUIRE(result.samples.size() == 5);
    for (const double sample : result.samples) CHECK(sample >= 0);
  }
  const auto one = measure_one("instructions", turns, {.samples = 5, .seconds_per_sample = 0});
  const auto in_threads = [&] {
    std::thread other(turns);
    turns();
    other.join();
  };
  const auto two = measure_one("instructions", in_threads, {.samples = 5, .seconds_per_sample = 0});
  if (one.status == Status::unsupported) return;
  CHECK(summarise(one.samples).median >= 2.0 * kTurns);
  CHECK(summarise(two.samples).median >= 4.0 * kTurns);
}

TEST_CASE("processor time is not counted while a thread sleeps") {
  const auto result =
      measure_one("cpu_time", [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); },
                  {.samples = 30, .warmup = 0});
  CHECK(summarise(result.samples).median < 2e-3);
}

TEST_CASE("peak memory holds what a run touched for a moment") {
  constexpr double kBytes = 64 << 20;
  const auto touch = [] {
    // Straight from the system: an allocator, or a sanitizer, may keep what was freed.
    const auto bytes = std::size_t(kBytes);
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(block != MAP_FAILED);
    for (std::size_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(block)[i] = 1;
    munmap(block, bytes);
  };
  const auto small = measure_one("peak_memory", [] {}, {.warmup = 0});
  const auto large = measure_one("peak_memory", touch, {.warmup = 0});
  if (large.status == Status::unsupported) {
    CHECK(large.reason != "");
    return;
  }
  CHECK(large.samples.size() == 1);
  CHECK(large.samples.at(0) - small.samples.at(0) > 0.9 * kBytes);
  CHECK(large.samples.at(0) - small.samples.at(0) < 1.5 * kBytes);
}

TEST_CASE("page faults are as many as the fresh pages that a call touches") {
  const long page = sysconf(_SC_PAGESIZE);
  constexpr int kPages = 64;
  const auto touch = [page] {
    const auto bytes = std::size_t(kPages * page);
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(block != MAP_FAILED);
    madvise(block, bytes, MADV_NOHUGEPAGE);  // one fault would bring many pages
    for (std::size_t i = 0; i < bytes; i += std::size_t(page)) {
      static_cast<volatile char*>(block)[i] = 1;
    }
    munmap(block, bytes);
  };
  // The median: other threads of the process, and the first calls, may fault too.
  CHECK(summarise(measure_one("page_faults", touch).samples).median == Approx(kPages).margin(1));
  CHECK(summarise(measure_one("page_faults", [] {}).samples).median < 1);
}

TEST_CASE("voluntary context switches are as many as the naps that a call takes") {
  constexpr int kNaps = 3;
  const auto nap = [] {
    for (int i = 0; i < kNaps; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  // The median: other threads of the process may wait, too.
  const auto median = [](const Measurement& result) { return summarise(result.samples).median; };
  CHECK(median(measure_one("voluntary_context_switches", nap)) == Approx(kNaps).margin(0.5));
  CHECK(median(measure_one("voluntary_context_switches", [] {})) < 0.5);
}

TEST_CASE("energy is measured where the machine counts it, and refused with a reason elsewhere") {
  const auto result = measure_one("energy", [] {}, {.samples = 2});
  if (result.status == Status::unsupported) {
    CHECK(result.reason != "");
    CHECK(result.samples.empty());
  } else {
    CHECK(result.samples.size() == 2);
    CHECK(result.samples.at(0) >= 0);
  }
}

TEST_CASE("a rate of work of one's own is that work over the same clock's time") {
  const auto results =
      measure({{.run = [] {}}},
              {"time", [] { return std::make_shared<Rate>("lookup_rate", "lookup", 1000.0); }});
  REQUIRE(results.size() == 2);
  CHECK(results[1].unit == "lookup/s");
  CHECK(results[1].quantity == Quantity::rate);
  CHECK(results[1].direction == Direction::higher_is_better);
  REQUIRE(results[1].samples.size() == 30);
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(results[1].samples[i] * results[0].samples[i] == Approx(1000.0));
  }
}

TEST_CASE("a rate of unknown work is unsupported") {
  const auto results =
      measure({{.run = [] {}}}, {[] { return std::make_shared<Rate>("bandwidth", "byte", 0.0); }});
  CHECK(results.at(0).status == Status::unsupported);
  CHECK(results.at(0).reason == "the work of one call is not known");
}

TEST_CASE("a latency is the quantile of the calls, and says when they are too few to tell") {
  // 100 calls of which one is slow: 1% of them, which p99 does not count and p999 cannot know.
  const auto latency = [](const char* name, int calls) {
    const auto metric = metrics().at(name).make();
    for (int i = 0; i < calls; ++i) {
      metric->begin(1);
      metric->end();
      metric->sample(i == 7 ? 100 : 1 + 0.001 * i);
    }
    Measurement result;
    result.statistic = metric->statistic();
    metric->summarise(result);
    return result;
  };
  const auto p99 = latency("latency_p99", 100);
  CHECK(p99.status == Status::passed);
  CHECK(to_string(p99.statistic) == "p99");
  // Between the 99th of 100 sorted samples, 1.099, and the slowest, as NumPy's default.
  CHECK(estimate(p99).value == Approx(1.099 + 0.01 * (100 - 1.099)));
  CHECK(estimate(latency("latency_p90", 10)).value == Approx(1.009 + 0.1 * (100 - 1.009)));
  CHECK(latency("latency_p90", 10).status == Status::passed);
  for (const auto& [name, calls, needed] :
       {std::tuple{"latency_p90", 9, "10"}, std::tuple{"latency_p99", 99, "100"},
        std::tuple{"latency_p999", 999, "1000"}}) {
    const auto few = latency(name, calls);
    CHECK(few.status == Status::mistrusted);
    CHECK_THAT(few.reason, Catch::Contains("fewer than the " + std::string(needed)));
  }
}

TEST_CASE("a latency of calls that are batched into samples is mistrusted") {
  const auto metric = metrics().at("latency_p90").make();
  for (int i = 0; i < 20; ++i) {
    metric->begin(4);
    metric->end();
    metric->sample(1);
  }
  Measurement result;
  metric->summarise(result);
  CHECK(result.status == Status::mistrusted);
  CHECK_THAT(result.reason, Catch::Contains("mean of up to 4 calls"));
}
