// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tests/level3_distributed/jobs/job.hpp"

namespace {

Job run(const std::string& way) { return run_ranks(3, D5_FAILING_RANK " " + way); }

/// Whether the process exists and is not a zombie.
bool runs(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  std::getline(stat, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line[name_end + 2] != 'Z';
}

/// Number of running processes among those printed in the output, after a second for their exit.
int left_running(const std::string& output) {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  int running = 0;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("pid ")) running += runs(line.substr(4));
  }
  return running;
}

}  // namespace

TEST_CASE("ranks that all end well end the job with status 0") {
  const Job job = run("none");
  INFO(job.output);
  CHECK(job.status == 0);
  for (const char* rank : {"rank 0", "rank 1", "rank 2"}) {
    CHECK_THAT(job.output, Catch::Contains(std::string(rank) + " came to the end"));
  }
}

TEST_CASE("a rank that fails ends the job within 10 seconds, with a message that names it") {
  const auto [way, message] = GENERATE(table<std::string, std::string>({
      {"throws", "rank 1: the loss is not a number"},
      {"aborts", "rank 1: gave up"},
      {"exits", "rank 1: exited with status 3 while other ranks were running"},
      {"dies", "rank 1 with PID"},  // a killed rank prints nothing: this is mpirun's message
  }));
  const Job job = run(way);
  INFO(way << ": " << job.output);
  CHECK(job.status != 0);
  CHECK(job.status != 124);
  CHECK(job.seconds < 10);
  CHECK_THAT(job.output, Catch::Contains(message));
  CHECK_THAT(job.output, !Catch::Contains("came to the end"));
}

TEST_CASE(
    "a rank that stops or hangs ends the job after the timeout, by name, and nothing is left") {
  const auto way = GENERATE(as<std::string>(), "stop", "hang");
  const Job job = run(way);  // with a timeout of 2 s
  INFO(way << ": " << job.output);
  CHECK(job.status != 0);
  CHECK(job.status != 124);
  CHECK(job.seconds >= 2);
  CHECK(job.seconds < 12);
  CHECK_THAT(job.output, Catch::Contains("2s are over in") && Catch::Contains("not there: rank 1"));
  CHECK_THAT(job.output,
             !Catch::Contains("not there: rank 0") && !Catch::Contains("not there: rank 2"));
  CHECK_THAT(job.output, !Catch::Contains("came to the end"));
  CHECK(left_running(job.output) == 0);
}

TEST_CASE("a rank that a fault kills ends the job at once") {
  const Job job = run("kill");
  INFO(job.output);
  CHECK(job.status != 0);
  CHECK(job.seconds < 10);
  CHECK_THAT(job.output, Catch::Contains("rank 1 with PID"));
  CHECK(left_running(job.output) == 0);
}

TEST_CASE("ranks that have told each other how long they wait end well when the late one comes") {
  const Job job = run("late");
  INFO(job.output);
  CHECK(job.status == 0);
  CHECK(job.seconds < 10);
  for (const char* rank : {"rank 0", "rank 1", "rank 2"}) {
    CHECK_THAT(job.output, Catch::Contains(std::string(rank) + " came to the end"));
  }
}
