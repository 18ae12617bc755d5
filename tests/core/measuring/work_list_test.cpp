// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/work_list.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <stop_token>

#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

Measurement record_of(const std::string& subject) {
  return {.subject = subject, .metric = "time", .unit = "s", .samples = {1, 2, 3}};
}

/// Counts in `runs` how often each ran.
WorkPiece piece(const std::string& subject, std::vector<std::string>& runs) {
  return {.record = record_of(subject),
          .run =
              [subject, &runs](const std::function<void()>& sampled) {
                runs.push_back(subject);
                sampled();
                return std::vector{record_of(subject)};
              },
          .plan = [subject] { return std::vector{record_of("plan of " + subject)}; }};
}

WorkPiece broken(const std::string& subject, const std::function<void()>& thrower) {
  return {.record = {.subject = subject},
          .run = [=](const std::function<void()>&) -> std::vector<Measurement> {
            thrower();
            return {};
          }};
}

std::vector<std::string> subjects(const WorkDone& done) {
  std::vector<std::string> subjects;
  for (const auto& record : done.results.measurements) subjects.push_back(record.subject);
  return subjects;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("pieces run in their order, and their records come one piece after the other") {
  Words runs, heard;
  const WorkDone done =
      run_work({piece("a", runs), piece("b", runs)},
               {.on_records = [&](const auto& some) { heard.push_back(some.at(0).subject); }});
  CHECK(runs == Words{"a", "b"});
  CHECK(heard == runs);
  CHECK(subjects(done) == runs);
  CHECK(done.whole);
  CHECK_FALSE(done.results.run);  // nothing is kept
  CHECK(subjects(plan_work({piece("a", runs)})) == Words{"plan of a"});
  CHECK(runs.size() == 2);
}

TEST_CASE("one of several pieces that throws is a failed record; a single one throws") {
  Words runs;
  const auto fails = broken("x", [] { throw ValueError("no"); });
  const auto large = broken("y", [] { throw MemoryError("too large"); });
  const auto missing = broken("z", [] { throw NotFound("where"); });
  const WorkDone done = run_work({fails, large, piece("a", runs)});
  REQUIRE(done.results.measurements.size() == 3);
  CHECK(done.results.measurements[0].status == Status::failed);
  CHECK(done.results.measurements[0].reason == "no");
  CHECK(done.results.measurements[1].status == Status::skipped);
  CHECK(runs == Words{"a"});
  CHECK_FALSE(done.bad_input);
  CHECK(run_work({missing, piece("a", runs)}).bad_input);
  CHECK_THROWS_AS(run_work({fails}), ValueError);
}

TEST_CASE("what a journal keeps is not run again, and other options do not go on from it") {
  const testing::TemporaryFolder folder;
  const std::string out = folder / "r.json";
  Words runs;
  std::stop_source stop;
  const auto stops = broken("b", [&] { stop.request_stop(); });
  const WorkDone cut =
      run_work({piece("a", runs), stops, piece("c", runs)},
               {.how = "--seed 1", .out = out, .interrupt = {.token = stop.get_token()}});
  CHECK_FALSE(cut.whole);
  CHECK(runs == Words{"a"});
  const std::vector all{piece("a", runs), piece("b", runs), piece("c", runs)};
  CHECK_THROWS_WITH(run_work(all, {.how = "--seed 2", .out = out, .resume = true}),
                    Contains("--seed 1"));
  const WorkDone rest = run_work(all, {.how = "--seed 1", .out = out, .resume = true});
  CHECK(runs == Words{"a", "b", "c"});
  CHECK(subjects(rest) == runs);
  CHECK(rest.written);
  CHECK(read_results(out).measurements.size() == 3);
  const WorkDone nothing = run_work(all, {.how = "--seed 1", .out = out, .resume = true});
  CHECK(nothing.was_done);
  CHECK(runs.size() == 3);
  CHECK_THROWS_AS(run_work(all, {.resume = true}), ValueError);
}

TEST_CASE("pieces of one name are told apart, and chosen by their names") {
  const testing::TemporaryFolder folder;
  Words runs;
  const WorkDone twice = run_work({piece("a", runs), piece("a", runs)}, {.out = folder / "r.json"});
  REQUIRE(twice.results.run);
  CHECK(twice.results.run->pieces.at(1).name == "a #2");
  const std::vector all{piece("Relu 8", runs), piece("Tanh 8", runs)};
  CHECK(name_of(matching(all, "^T").at(0)) == "Tanh 8");
  CHECK_THROWS_WITH(matching(all, "Gelu"), Contains("none of 2"));
  CHECK_THROWS_WITH(matching(all, "("), Contains("regular expression"));
}

TEST_CASE("one of several frameworks that throws is a failed record, and an interrupt ends them") {
  int sampled = 0;
  const auto count = [&] { ++sampled; };
  const auto check = [](const std::string& framework, std::vector<Measurement>& results) {
    if (framework == "bad") throw ValueError("cannot");
    if (framework == "ended") throw Interrupted("now");
    results.push_back(record_of(framework));
  };
  const auto results = check_each({"good", "bad", "ended", "good"}, {.subject = "x"}, count, check);
  REQUIRE(results.size() == 2);
  CHECK(results[1].status == Status::failed);
  CHECK(results[1].framework == "bad");
  CHECK(sampled == 2);
  CHECK_THROWS_AS(check_each({"bad"}, {}, count, check), ValueError);
}
