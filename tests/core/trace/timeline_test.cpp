// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace/timeline.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;
using Kind = TraceRecord::Kind;

namespace {

/// One rank with one span, `name`, from 1000 ns on.
Timeline one_span(int rank, const std::string& name) {
  Timeline timeline;
  timeline.ranks = {{.rank = rank, .host = "host"}};
  timeline.lanes = {{rank, 0, "thread 0"}};
  timeline.records = {{.rank = rank,
                       .lane = 0,
                       .id = 1,
                       .begin_ns = 1000,
                       .end_ns = 3500,
                       .level = "operator",
                       .name = name}};
  return timeline;
}

/// Every kind of record, on a clock far from zero.
Timeline everything() {
  Timeline timeline;
  timeline.ranks = {{.rank = 2, .host = "a \"host\"", .dropped = 7, .clock = {-12, 3}}};
  timeline.cut_off = "interrupted";
  timeline.lanes = {{2, 0, "thread 0"}, {2, 4, "cuda:0 stream 1"}};
  const std::int64_t long_ago = 8'640'000'000'000'001;  // 100 days and 1 ns
  timeline.records = {
      {.rank = 2,
       .lane = 0,
       .id = 1,
       .begin_ns = long_ago,
       .end_ns = long_ago + 86'400'000'000'003,
       .level = "network",
       .name = "inference",
       .arguments = {{"bytes", std::int64_t{4096}}, {"share", 0.1}, {"text", "\"\n\t\\é"}}},
      {.kind = Kind::overlapping,
       .rank = 2,
       .lane = 4,
       .id = 2,
       .parent = 1,
       .begin_ns = long_ago + 1,
       .end_ns = long_ago + 1001,
       .level = "communication",
       .name = "all_reduce"},
      {.kind = Kind::overlapping,
       .rank = 2,
       .lane = 4,
       .id = 3,
       .parent = 1,
       .begin_ns = long_ago + 500,
       .end_ns = long_ago + 2000,
       .level = "communication",
       .name = "all_reduce"},
      {.kind = Kind::counter,
       .rank = 2,
       .lane = 0,
       .begin_ns = long_ago + 600,
       .end_ns = long_ago + 600,
       .level = "training",
       .name = "loss",
       .arguments = {{"value", 2.5}}},
  };
  return timeline;
}

nlohmann::json events_of(const Timeline& timeline, const std::string& phase) {
  auto result = nlohmann::json::array();
  const auto file = nlohmann::json::parse(to_json(timeline));
  for (const auto& event : file.at("traceEvents")) {
    if (event.at("ph") == phase) result.push_back(event);
  }
  return result;
}

/// `text` with its first `from` replaced by `to`.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

}  // namespace

TEST_CASE("a timeline is read back as it was written, to the nanosecond") {
  const Timeline timeline = everything();
  CHECK(timeline_from_json(to_json(timeline), "here") == timeline);
  const testing::TemporaryFolder folder;
  const std::string path = folder / "timeline.json";
  write_timeline(timeline, path);
  CHECK(read_timeline(path) == timeline);
  CHECK(timeline_from_json(to_json({}), "here") == Timeline{});
}

TEST_CASE("spans are Chrome's complete events, in microseconds") {
  const auto events = events_of(one_span(3, "Conv"), "X");
  REQUIRE(events.size() == 1);
  CHECK(events[0].at("cat") == "operator");
  CHECK(events[0].at("name") == "Conv");
  CHECK(events[0].at("pid") == 3);
  CHECK(events[0].at("tid") == 0);
  CHECK(events[0].at("ts") == 0);
  CHECK(events[0].at("dur") == 2.5);
  const auto names = events_of(one_span(3, "Conv"), "M");
  CHECK(names.at(0).at("args").at("name") == "rank 3 on host");
  CHECK(names.at(1).at("args").at("name") == "thread 0");
}

TEST_CASE("overlapping spans are a pair of asynchronous events of the same category, name and id") {
  const auto begins = events_of(everything(), "b"), ends = events_of(everything(), "e");
  REQUIRE(begins.size() == 2);
  REQUIRE(ends.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char* key : {"cat", "name", "id2", "pid"}) {
      CHECK(begins[i].at(key) == ends[i].at(key));
    }
  }
  CHECK(begins[0].at("id2") != begins[1].at("id2"));
  CHECK(begins[1].at("ts") < ends[0].at("ts"));
}

TEST_CASE("names are escaped, whatever a model calls its nodes") {
  const std::string hostile = "\"}],\n\x01</script>\xff\xc3";
  const auto events = events_of(one_span(0, hostile), "X");
  REQUIRE(events.size() == 1);
  CHECK(events[0].at("name") == "\"}],\n\x01</script>\xef\xbf\xbd\xef\xbf\xbd");
  const Timeline back = timeline_from_json(to_json(one_span(0, "a \"b\"\n{0}")), "here");
  CHECK(back.records.front().name == "a \"b\"\n{0}");
}

TEST_CASE("two ranks become one timeline on one clock") {
  Timeline all = one_span(0, "first");
  // This rank's clock shows 1000 when rank 0's shows 1600.
  all.merge(one_span(1, "second"), {.offset_ns = 600, .uncertainty_ns = 20});
  REQUIRE(all.records.size() == 2);
  CHECK(all.records[0].name == "first");
  CHECK(all.records[1].name == "second");
  CHECK(all.records[1].begin_ns == 1600);
  CHECK(all.records[1].end_ns == 4100);
  REQUIRE(all.ranks.size() == 2);
  CHECK(all.ranks[1].clock == ClockOffset{600, 20});
  CHECK(all.lanes.size() == 2);
  CHECK(timeline_from_json(to_json(all), "here") == all);

  Timeline third = one_span(2, "third");
  third.merge(all, {.offset_ns = -700, .uncertainty_ns = 5});
  CHECK(third.records.front().name == "first");
  CHECK(third.ranks.back().clock == ClockOffset{-100, 25});
  CHECK_THROWS_WITH(all.merge(one_span(1, "again")), Contains("both have rank 1"));
}

TEST_CASE("a clock that drifts is moved by more the later it is, and the file says so") {
  Timeline all = one_span(0, "first");
  const Timeline other = one_span(1, "second");
  const auto& span = other.records.front();
  const ClockOffset clock{.offset_ns = 600, .uncertainty_ns = 20, .drift = 0.5, .since_ns = 0};
  all.merge(other, clock);
  CHECK(all.records.back().begin_ns == 600 + span.begin_ns * 3 / 2);
  CHECK(all.records.back().end_ns == 600 + span.end_ns * 3 / 2);
  CHECK(all.ranks[1].clock == clock);
  CHECK(timeline_from_json(to_json(all), "here") == all);
}

TEST_CASE("each rank's lanes are named behind its own name") {
  Timeline all = one_span(0, "first");
  all.lanes.push_back({0, 1, "loader"});
  all.merge(one_span(1, "second"));
  std::vector<std::string> names;
  for (const auto& event : events_of(all, "M")) names.push_back(event.at("args").at("name"));
  CHECK(names == std::vector<std::string>{"rank 0 on host", "thread 0", "loader", "rank 1 on host",
                                          "thread 0"});
}

TEST_CASE("the longest of the spans that begin together comes first") {
  Timeline all = one_span(0, "short");
  Timeline other = one_span(1, "long");
  other.records.front().end_ns += 1;
  all.merge(std::move(other));
  CHECK(all.records.front().name == "long");
}

TEST_CASE("a file that is no trace of d5's is a typed error that says where") {
  const std::string text = to_json(everything());
  const auto complaint = [](const std::string& damaged) {
    try {
      (void)timeline_from_json(damaged, "a.json");
    } catch (const FormatError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK_THAT(complaint(text.substr(0, text.size() / 2)), Contains("'a.json'") && Contains("byte"));
  CHECK_THAT(complaint("[]"), Contains("otherData"));
  CHECK_THAT(complaint(R"({"traceEvents": []})"), Contains("otherData"));
  CHECK_THAT(complaint(replaced(text, "d5 trace", "another")), Contains("not a trace of d5"));
  CHECK_THAT(complaint(replaced(text, R"("schema":1)", R"("schema":2)")), Contains("schema 2"));
  CHECK_THAT(complaint(replaced(text, R"("ts":0.000)", R"("ts":"soon")")),
             Contains("traceEvents[3]") && Contains("'ts'") && Contains("a number"));
  CHECK_THAT(complaint(replaced(text, R"("pid":2,"tid":0,"ts")", R"("pid":-2,"tid":0,"ts")")),
             Contains("pid -2"));
  CHECK_THAT(complaint(replaced(text, R"("ph":"e")", R"("ph":"?")")), Contains("no end"));
  CHECK_THAT(complaint(replaced(text, R"("ph":"b")", R"("ph":"?")")), Contains("has not begun"));
  CHECK_THAT(complaint(replaced(text, R"("ts":0.000)", R"("ts":1e300)")), Contains("104 days"));
  CHECK_THROWS_AS(read_timeline("/nowhere/trace.json"), IoError);
  CHECK_THROWS_AS(write_timeline({}, "/nowhere/trace.json"), IoError);
}
