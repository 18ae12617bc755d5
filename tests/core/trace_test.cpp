// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"

using namespace d5;

namespace {

/// The spans of the trace as written, without the line that names the process.
std::vector<nlohmann::json> spans() {
  const auto path = (std::filesystem::temp_directory_path() / "d5-trace-test.json").string();
  Trace::write(path);
  const auto events = nlohmann::json::parse(read_file(path)).at("traceEvents");
  std::filesystem::remove(path);
  CHECK(events.at(0).at("ph") == "M");
  return {events.begin() + 1, events.end()};
}

}  // namespace

TEST_CASE("nothing is collected while no trace is on") {
  REQUIRE_FALSE(Trace::on());
  {
    const Span span("test", "before");
  }
  Trace::add_span("test", "by hand", 1, 2);
  CHECK(spans().empty());
}

TEST_CASE("spans are written as Chrome's complete events, in microseconds") {
  Trace::set_rank(3);
  Trace::start();
  Trace::add_span("level1", "Conv \"a\"\n\xff", 5'000'000'001, 5'000'002'500);
  Trace::stop();
  Trace::add_span("level1", "late", 1, 2);
  const auto events = spans();
  REQUIRE(events.size() == 1);
  CHECK(events[0].at("ph") == "X");
  CHECK(events[0].at("cat") == "level1");
  CHECK(events[0].at("name") == "Conv \"a\"\n\xef\xbf\xbd");
  CHECK(events[0].at("pid") == 3);
  CHECK(events[0].at("ts").get<double>() == Approx(5'000'000.001).epsilon(1e-12));
  CHECK(events[0].at("dur").get<double>() == Approx(2.499));
}

TEST_CASE("a span lasts from construction to destruction, and holds those inside it") {
  Trace::start();
  {
    const Span outer("test", "outer");
    const Span inner("test", "inner");
  }
  Trace::stop();
  const auto events = spans();
  REQUIRE(events.size() == 2);
  CHECK(events[0].at("name") == "inner");
  const double inner = events[0].at("ts"), outer = events[1].at("ts");
  CHECK(outer <= inner);
  CHECK(inner + events[0].at("dur").get<double>() <=
        outer + events[1].at("dur").get<double>() + 1e-3);  // the file's last digit
}

TEST_CASE("threads write at once into lanes of their own") {
  Trace::start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) const Span span("test", "work");
    });
  }
  for (auto& thread : threads) thread.join();
  Trace::stop();
  const auto events = spans();
  CHECK(events.size() == 4000);
  std::set<int> lanes;
  for (const auto& event : events) lanes.insert(event.at("tid").get<int>());
  CHECK(lanes.size() == 4);
}

TEST_CASE("a new start forgets the last trace; an unwritable file is an error") {
  Trace::start();
  CHECK(spans().empty());
  Trace::stop();
  CHECK_THROWS_AS(Trace::write("/nowhere/trace.json"), IoError);
}
