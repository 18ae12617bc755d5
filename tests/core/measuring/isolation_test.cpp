// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/isolation.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "tests/sanitizers.hpp"

using namespace d5;
using Catch::Matchers::Contains;

namespace {

using Records = std::vector<Measurement>;

Measurement named(const std::string& subject) {
  Measurement record = error_record();
  record.subject = subject;
  record.level = "operator";
  return record;
}

/// The one record of work that did not come to its end.
Measurement failure_of(const std::function<void()>& work, Isolation isolation = {}) {
  if (isolation.most_seconds <= 0) isolation.most_seconds = 100;
  const Records records = isolated(isolation, named("the case"), [&]() -> Records {
    work();
    return {};
  });
  REQUIRE(records.size() == 1);
  CHECK(records[0].subject == "the case");
  CHECK(records[0].status == Status::failed);
  return records[0];
}

/// Reads and writes that no compiler leaves out.
volatile int sink = 0;

}  // namespace

TEST_CASE("records come back as they were made, and nothing else does") {
  int changed = 0;
  const Records records = isolated({.most_seconds = 100}, named("unused"), [&]() -> Records {
    changed = 1;
    Measurement one = named("a 'name' with \"marks\"\nand lines");
    one.samples = {0.1, std::numeric_limits<double>::infinity()};
    one.conditions["tensor"] = identity("output 0");
    Measurement other = named("other");
    other.status = Status::skipped;
    other.reason = "why not";
    return {one, other};
  });
  REQUIRE(records.size() == 2);
  CHECK(records[0].subject == "a 'name' with \"marks\"\nand lines");
  CHECK(records[0].samples == std::vector{0.1, std::numeric_limits<double>::infinity()});
  CHECK(records[0].conditions.at("tensor") == "output 0");
  CHECK(records[1].status == Status::skipped);
  CHECK(records[1].reason == "why not");
  CHECK(changed == 0);
  CHECK(isolated({.most_seconds = 100}, named("unused"), [] { return Records(); }).empty());
}

TEST_CASE("by default work runs in this process") {
  int changed = 0;
  (void)isolated({}, named("unused"), [&] {
    changed = 1;
    return Records();
  });
  CHECK(changed == 1);
  CHECK_THROWS_AS(isolated({}, named("unused"), []() -> Records { throw ValueError("as it is"); }),
                  ValueError);
}

TEST_CASE("a signal, an exit, an exception are failed records with their names") {
  CHECK_THAT(failure_of([] { raise(SIGSEGV); }).reason, Contains("SIGSEGV"));
  CHECK_THAT(failure_of([] { std::abort(); }).reason, Contains("SIGABRT"));
  CHECK_THAT(failure_of([] { raise(SIGFPE); }).reason, Contains("SIGFPE"));
  CHECK_THAT(failure_of([] { raise(SIGKILL); }).reason, Contains("SIGKILL"));
  CHECK_THAT(failure_of([] { std::exit(3); }).reason, Contains("status 3"));
  CHECK_THAT(failure_of([] { _exit(0); }).reason, Contains("status 0"));
  CHECK_THAT(failure_of([] { throw std::runtime_error("my fault"); }).reason, Contains("my fault"));
  CHECK_THAT(failure_of([] { throw 42; }).reason, Contains("type that d5 does not know"));
}

TEST_CASE("a loop without an end is ended, also where the process says nothing any more") {
  const Isolation briefly{.most_seconds = 0.3};
  const auto loop = [] {
    for (;;) sink = sink + 1;
  };
  CHECK_THAT(failure_of(loop, briefly).reason, Contains("no answer within 0.3 s"));
  const auto deaf = [&] {
    for (int descriptor = 3; descriptor < 1000; ++descriptor) close(descriptor);
    loop();
  };
  CHECK_THAT(failure_of(deaf, briefly).reason, Contains("no answer within 0.3 s"));
}

TEST_CASE("unsupported stays unsupported") {
  const Records records = isolated({.most_seconds = 100}, named("the case"),
                                   []() -> Records { throw Unsupported("not here"); });
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == Status::unsupported);
  CHECK(records[0].reason == "not here");
}

#ifndef D5_UNDER_ADDRESS_SANITIZER  // it takes all address space, and ends the process where there
                                    // is
                                    // none
TEST_CASE("memory without end is ended") {
  const auto greedy = [] {
    std::vector<std::unique_ptr<char[]>> all;
    for (;;) {
      constexpr std::size_t kPiece = std::size_t{16} << 20;
      all.push_back(std::make_unique<char[]>(kPiece));
      sink = all.back()[kPiece / 2];
    }
  };
  const Isolation small{.most_seconds = 100, .most_bytes = std::size_t{256} << 20};
  CHECK_THAT(failure_of(greedy, small).reason, Contains("bad_alloc"));
}
#endif

TEST_CASE("an interrupt ends it") {
  std::stop_source stop;
  stop.request_stop();
  const Isolation interrupted{.most_seconds = 100, .interrupt = {.token = stop.get_token()}};
  CHECK_THROWS_AS(isolated(interrupted, named("the case"),
                           []() -> Records {
                             for (;;) pause();
                           }),
                  Interrupted);
}
