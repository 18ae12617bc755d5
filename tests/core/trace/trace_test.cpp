// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace/trace.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <latch>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

/// The trace of `work`.
template <class Work>
Timeline traced(const Work& work, const TraceOptions& options = {}) {
  Trace::start(options);
  work();
  Trace::stop();
  return Trace::timeline();
}

const TraceRecord& find(const Timeline& timeline, const std::string& name) {
  const auto place = std::ranges::find(timeline.records, name, &TraceRecord::name);
  if (place == timeline.records.end()) throw std::logic_error("no record of " + name);
  return *place;
}

}  // namespace

TEST_CASE("nothing is recorded while no trace is on") {
  Trace::start();
  Trace::stop();
  REQUIRE_FALSE(Trace::on());
  {
    const Span by_name("test", "off");
    const Span by_function("test", []() -> std::string { throw std::logic_error("called"); });
    CHECK(Trace::current() == 0);
  }
  CHECK(Trace::add({.name = "by hand"}) == 0);
  Trace::count("test", "counter", 1);
  CHECK(Trace::timeline().records.empty());
}

TEST_CASE("a span lasts from construction to destruction, and is the parent of those inside it") {
  const Timeline timeline = traced([] {
    Span outer("training", "outer");
    outer.argument("batch", 7);
    outer.argument("share", 0.25);
    outer.argument("data", "mnist");
    {
      const Span first("network", "first");
    }
    const Span second("network", "second");
    const Span innermost("operator", [] { return std::string("innermost"); });
    CHECK(Trace::current() != 0);
  });
  REQUIRE(timeline.records.size() == 4);
  const TraceRecord &outer = find(timeline, "outer"), &first = find(timeline, "first"),
                    &second = find(timeline, "second"), &innermost = find(timeline, "innermost");
  CHECK(timeline.records.front() == outer);
  CHECK(outer.parent == 0);
  CHECK(first.parent == outer.id);
  CHECK(second.parent == outer.id);
  CHECK(innermost.parent == second.id);
  CHECK(outer.level == "training");
  CHECK(outer.arguments ==
        std::vector<TraceArgument>{{"batch", std::int64_t{7}}, {"share", 0.25}, {"data", "mnist"}});
  CHECK(outer.begin_ns <= first.begin_ns);
  CHECK(first.begin_ns <= first.end_ns);
  CHECK(first.end_ns <= second.begin_ns);
  CHECK(innermost.end_ns <= second.end_ns);
  CHECK(second.end_ns <= outer.end_ns);
  CHECK(Trace::current() == 0);
}

TEST_CASE("a span whose end was missed is discarded, and no later span is inside it") {
  const Timeline timeline = traced([] {
    auto lost = std::make_unique<Span>("test", "lost");
    {
      const Span around("test", "around");
      auto leaked = std::make_unique<Span>("test", "leaked");
      leaked->discard();
      const Span after("test", "after");
    }
    lost->discard();
    const Span last("test", "last");
  });
  CHECK(timeline.records.size() == 3);
  CHECK(find(timeline, "after").parent == find(timeline, "around").id);
  CHECK(find(timeline, "last").parent == 0);
}

TEST_CASE("a span that an exception left open closes with the span around it") {
  std::unique_ptr<Span> open;
  const Timeline timeline = traced([&] {
    try {
      const Span around("test", "around");
      open = std::make_unique<Span>("test", "open");
      throw std::runtime_error("half-way");
    } catch (const std::runtime_error&) {
    }
    const Span next("test", "next");
    open->discard();
    const Span inside("test", "inside");
  });
  CHECK(find(timeline, "next").parent == 0);
  CHECK(find(timeline, "inside").parent == find(timeline, "next").id);
}

TEST_CASE("threads record at once into lanes of their own, which later threads inherit") {
  std::set<int> lanes;
  for (int round = 0; round < 2; ++round) {
    const Timeline timeline = traced([] {
      std::latch all_there(4);
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
          {
            const Span span("test", "first");
          }
          all_there.arrive_and_wait();
          for (int i = 1; i < 1000; ++i) const Span span("test", "work");
        });
      }
      for (auto& thread : threads) thread.join();
    });
    CHECK(timeline.records.size() == 4000);
    CHECK(timeline.lanes.size() == 4);
    for (const auto& record : timeline.records) lanes.insert(record.lane);
  }
  CHECK(lanes.size() == 4);
}

TEST_CASE("spans of other lanes, ranks and clocks are added when they are over") {
  const int stream = Trace::lane("cuda:0 stream 1");
  CHECK(Trace::lane("cuda:0 stream 1") == stream);
  const Timeline timeline = traced(
      [&] {
        Trace::add({.lane = stream, .begin_ns = 100, .end_ns = 130, .name = "kernel"}, 1000);
        Trace::add({.rank = 5, .lane = 0, .begin_ns = 50, .end_ns = 60, .name = "elsewhere"});
        Trace::add({.kind = TraceRecord::Kind::overlapping,
                    .begin_ns = 55,
                    .end_ns = 1105,
                    .name = "request"});
      },
      {.rank = 3});
  REQUIRE(timeline.records.size() == 3);
  CHECK(timeline.records[0].name == "elsewhere");
  CHECK(timeline.records[1].name == "request");
  const TraceRecord& kernel = timeline.records[2];
  CHECK(kernel.begin_ns == 1100);
  CHECK(kernel.end_ns == 1130);
  CHECK(kernel.rank == 3);
  CHECK(std::ranges::count(timeline.lanes, TraceLane{3, stream, "cuda:0 stream 1"}) == 1);
  std::set<int> ranks;
  for (const auto& rank : timeline.ranks) ranks.insert(rank.rank);
  CHECK(ranks == std::set{3, 5});
}

TEST_CASE("memory is bounded: the newest records are kept, the others counted, texts cut") {
  const Timeline timeline = traced(
      [] {
        for (int i = 0; i < 1000; ++i) {
          Trace::add({.begin_ns = i, .end_ns = i, .name = std::to_string(i)});
        }
        Span span("test", std::string(100'000, 'x'));
        for (int i = 0; i < 1000; ++i) span.argument("name", std::string(1000, 'y'));
      },
      {.most_records = 100});
  REQUIRE(timeline.records.size() == 100);
  CHECK(timeline.records.front().name == "901");
  REQUIRE(timeline.ranks.size() == 1);
  CHECK(timeline.ranks.front().dropped == 901);
  const TraceRecord& last = timeline.records.back();
  CHECK(last.name.size() < 300);
  CHECK(last.arguments.size() <= 16);
  CHECK(std::get<std::string>(last.arguments.front().value).size() < 300);
}

TEST_CASE("records of many lengths are kept whole while older ones make room") {
  constexpr int kRecords = 5000, kKept = 333;
  const auto nth = [](int i) {
    TraceRecord record{.rank = 0, .lane = 0, .id = std::uint64_t(i) + 1, .parent = 7};
    record.begin_ns = record.end_ns = i;
    record.level = "test";
    record.name = std::to_string(i) + std::string(std::size_t(i) % 190, 'n');
    for (int a = 0; a < i % 17; ++a) {
      record.arguments.push_back({"text", std::string(std::size_t(i) % 200, 't')});
      if (a > 0) record.arguments[std::size_t(a)].value = std::int64_t{a} << 40;
      if (a > 5) record.arguments[std::size_t(a)].value = 1.0 / a;
    }
    return record;
  };
  const Timeline timeline = traced(
      [&] {
        for (int i = 0; i < kRecords; ++i) Trace::add(nth(i));
      },
      {.most_records = kKept});
  REQUIRE(timeline.records.size() == kKept);
  for (int i = 0; i < kKept; ++i) {
    CHECK(timeline.records[std::size_t(i)] == nth(kRecords - kKept + i));
  }
}

TEST_CASE("a trace of one level takes no other, and nobody else is asked to tell") {
  const Timeline timeline = traced(
      [] {
        CHECK_FALSE(Trace::on());
        CHECK(Trace::takes("evaluation"));
        const Span outer("evaluation", "outer");
        const Span other("operator", []() -> std::string { throw std::logic_error("called"); });
        const Span inner("evaluation", "inner");
        Trace::count("operator", "counter", 1);
        CHECK(Trace::add({.level = "operator", .name = "by hand"}) == 0);
        CHECK(Trace::add({.level = "evaluation", .name = "request"}) != 0);
      },
      {.only_level = "evaluation"});
  CHECK(timeline.records.size() == 3);
  CHECK(find(timeline, "inner").parent == find(timeline, "outer").id);
  (void)find(timeline, "request");
  Trace::start();
  CHECK(Trace::on());
  Trace::stop();
  CHECK_FALSE(Trace::takes("evaluation"));
}

TEST_CASE("a span that another thread ends is that thread's record") {
  const Timeline timeline = traced([] {
    for (int i = 0; i < 100; ++i) {
      auto span = std::make_unique<Span>("test", "carried");
      std::thread([&] { span.reset(); }).join();
    }
  });
  CHECK(timeline.records.size() == 100);
}

TEST_CASE("a new start forgets the last trace") {
  (void)traced([] { const Span span("test", "old"); });
  CHECK(traced([] {}).records.empty());
  CHECK_THROWS_AS(Trace::start({.rank = -1}), ValueError);
  CHECK_THROWS_AS(Trace::start({.most_records = 0}), ValueError);
}

TEST_CASE("what is known only when a trace stops is still added") {
  int told = 0;
  const auto tell = [&] {
    ++told;
    Trace::add({.begin_ns = 1, .end_ns = 2, .level = "test", .name = "late"});
  };
  Trace::at_stop(tell);  // none is on
  const Timeline timeline = traced([&] { Trace::at_stop(tell); });
  CHECK(told == 1);
  CHECK(find(timeline, "late").end_ns == 2);
  (void)traced([] {});
  CHECK(told == 1);
}

TEST_CASE("a span that outlives its trace leaves no record") {
  Trace::start();
  {
    const Span old("test", "old");
    Trace::stop();
  }
  CHECK(Trace::timeline().records.empty());
}

TEST_CASE("a counter has a value at a moment") {
  const Timeline timeline = traced([] { Trace::count("training", "loss", 0.5); });
  REQUIRE(timeline.records.size() == 1);
  const TraceRecord& record = timeline.records.front();
  CHECK(record.kind == TraceRecord::Kind::counter);
  CHECK(record.begin_ns == record.end_ns);
  CHECK(record.arguments == std::vector<TraceArgument>{{"value", 0.5}});
}
