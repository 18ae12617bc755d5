// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <string>

namespace {

struct Job {
  int status = -1;
  std::string output;  // stdout and stderr
  double seconds = 0;
};

/// Runs the program on 3 ranks. `timeout` answers 124 if the job hangs.
Job run(const std::string& way) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string command =
      "timeout 30 " D5_MPIEXEC " --oversubscribe -np 3 " D5_FAILING_RANK " " + way + " 2>&1";
  Job job;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe)) job.output += buffer.data();
  job.status = WEXITSTATUS(pclose(pipe));
  job.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return job;
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
      {"exits", "rank 1: exited with status 3 while others were at work"},
      {"dies", "rank 1 with PID"},  // a killed rank says nothing: these are mpirun's words
  }));
  const Job job = run(way);
  INFO(way << ": " << job.output);
  CHECK(job.status != 0);
  CHECK(job.status != 124);
  CHECK(job.seconds < 10);
  CHECK_THAT(job.output, Catch::Contains(message));
  CHECK_THAT(job.output, !Catch::Contains("came to the end"));
}
