// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/launch/agent_launcher.hpp"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "core/files/scratch_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "serving/launch/shell_line.hpp"

namespace d5 {
namespace {

using Catch::Contains;

/// A program that writes its words into a file of its own, and waits for the file "go".
std::string stand_in(const std::string& folder) {
  const std::string path = folder + "/agent";
  write_file(path, "#!/bin/sh\necho \"$@\" > '" + folder + "'/$$.part\nmv '" + folder +
                       "'/$$.part '" + folder + "'/$$.words\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

/// The commands of `count` launched agents.
std::set<std::string> words_told(const std::string& folder, std::size_t count) {
  using namespace std::chrono_literals;
  std::set<std::string> told;
  for (int look = 0; look < 600 && told.size() < count; ++look) {
    std::this_thread::sleep_for(50ms);
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".words") continue;
      std::ifstream stream(file.path());
      std::string line;
      std::getline(stream, line);
      told.insert(line);
    }
  }
  return told;
}

LaunchedAgents launch_two(const std::string& engine, const std::string& folder) {
  const auto launcher = agent_launchers().at(engine).make();
  return launcher->launch(
      {.command = {stand_in(folder), "run", "--labels", "site=it's here"}, .agents = 2});
}

TEST_CASE("agents of this machine are processes with names of their own") {
  const detail::ScratchFolder folder("launch-test");
  const LaunchedAgents launched = launch_two("local", folder / "");
  CHECK(launched.ids.size() == 2);
  CHECK_THAT(launched.end, Contains(launched.ids[0]) && Contains(launched.ids[1]));
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const std::string host = name.data();
  CHECK(words_told(folder / "", 2) ==
        std::set<std::string>{"run --labels site=it's here --name " + host + ".0",
                              "run --labels site=it's here --name " + host + ".1"});
}

// tests/serving/one_node_slurm.sh makes a Slurm for it.
TEST_CASE("agents are jobs of Slurm, which runs them", "[.][slurm]") {
  const detail::ScratchFolder folder("launch-test");
  const LaunchedAgents launched = launch_two("slurm", folder / "");
  CHECK(launched.ids.size() == 2);
  const std::string job = launched.ids[0].substr(0, launched.ids[0].find('_'));
  CHECK(launched.ids == std::vector<std::string>{job + "_0", job + "_1"});
  CHECK(launched.end == "scancel " + job);
  const auto told = words_told(folder / "", 2);
  REQUIRE(told.size() == 2);
  for (const std::string& words : told) {
    CHECK_THAT(words, Contains("run --labels site=it's here --name "));
  }
  CHECK_THAT(*told.begin(), Catch::EndsWith(".0"));
  CHECK_THAT(*told.rbegin(), Catch::EndsWith(".1"));

  const auto refused = agent_launchers().at("slurm").make({{"partition", "none-such"}});
  CHECK_THROWS_WITH(refused->launch({.command = {"/bin/true"}}),
                    Contains("none-such") || Contains("partition"));
}

TEST_CASE("an engine that is not here says so") {
  const std::string before = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const auto launcher = agent_launchers().at("slurm").make();
  CHECK_THROWS_AS(launcher->launch({.command = {"d5"}}), Unsupported);
  setenv("PATH", before.c_str(), 1);
  CHECK_THROWS_AS(agent_launchers().at("slrm"), NotFound);
}

}  // namespace
}  // namespace d5
