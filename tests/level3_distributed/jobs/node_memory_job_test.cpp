// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/level3_distributed/jobs/job.hpp"

namespace {

/// Runs with mpirun's recovery, whose status is 0; otherwise it would end the other ranks too
/// early.
Job run_killed(const std::string& way) {
  return run_ranks(3, "--enable-recovery " D5_NODE_MEMORY_RANK " " + way);
}

/// The inode of their memory's file, as printed by the ranks.
std::set<std::string> inodes(const std::string& output) {
  std::set<std::string> result;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t place = line.find(" inode ");
    if (line.starts_with("pid ") && place != std::string::npos) {
      result.insert(line.substr(place + 7));
    }
  }
  return result;
}

/// Whether a process still holds the file in /dev/shm, or it has a name there.
bool is_left(const std::string& inode) {
  namespace fs = std::filesystem;
  for (const auto& file : fs::directory_iterator("/dev/shm")) {
    struct stat status = {};
    if (lstat(file.path().c_str(), &status) == 0 && std::to_string(status.st_ino) == inode) {
      return true;
    }
  }
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::ifstream maps(process.path() / "maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(" " + inode + " ") != std::string::npos &&
          line.find("/dev/shm/") != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

int times(const std::string& text, const std::string& part) {
  int result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++result;
  }
  return result;
}

}  // namespace

TEST_CASE("no node memory is left when ranks are killed, and the others get an error") {
  const auto [way, message] = GENERATE(table<std::string, std::string>({
      {"one", "2s are over in barrier"},  // the timeout of the two remaining ranks
      {"lock", "rank 1 died with its lock"},
      {"all", ""},
  }));
  const Job job = run_killed(way);
  INFO(way << ": " << job.output);
  CHECK(job.status != 124);
  CHECK(job.seconds < 15);
  CHECK_THAT(job.output, !Catch::Contains("came to the end"));
  if (way != "all") {
    CHECK(times(job.output, "CommunicationError: ") == 2);
    CHECK(times(job.output, message) == 2);
  }
  const auto files = inodes(job.output);
  REQUIRE(files.size() == 1);  // one file, whose inode all three print
  CHECK(files.count("none") == 0);
  CHECK(times(job.output, "inode ") == 3);
  CHECK_FALSE(is_left(*files.begin()));
}
