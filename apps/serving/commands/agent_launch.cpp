// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/serving/launch/agent_launcher.hpp"

namespace d5::command {
namespace {

constexpr const char* kAgentLaunchExamples =
    R"(  d5 agent launch --through slurm --agents 4 --server host:8502 -- --drain
                                                  four jobs of Slurm, until no work is left
  d5 agent launch --through slurm:partition=gpu:minutes=120:extra=--gres=gpu --server host:8502
                                                  'd5 list launchers slurm' lists its options
  d5 agent launch --through local --server localhost:8502 -- --labels site=here --once

Options of 'd5 agent run' follow after --. The token comes from --token-file there, or from the
environment variable D5_TOKEN.)";

struct AgentLaunchOptions : app::OutputOptions {
  std::string through, server;
  int agents = 1;
  std::vector<std::string> rest;
};

int run_agent_launch(const AgentLaunchOptions& options) {
  const EntryChoice choice = entry_of_words("launcher", options.through);
  const auto launcher = agent_launchers().at(choice.name).make(choice.settings);
  AgentLaunch launch{.command = {}, .agents = options.agents};
  launch.command = {own_command().front(), "agent", "run", "--server", options.server};
  launch.command.insert(launch.command.end(), options.rest.begin(), options.rest.end());
  const LaunchedAgents launched = launcher->launch(launch);
  fmt::print("{}\n", fmt::join(launched.ids, "\n"));
  if (!options.quiet) {
    app::say(fmt::format("to watch them: {}; to end them: {}", launched.watch, launched.end));
  }
  return app::kPassed;
}

}  // namespace

void register_agent_launch(app::Program& program) {
  auto options = std::make_shared<AgentLaunchOptions>();
  auto& command =
      program.add("agent launch", "start agents as jobs of a job scheduler", kAgentLaunchExamples,
                  [options] { return run_agent_launch(*options); });
  command
      .add_option("--through", options->through,
                  "launcher, with settings: " +
                      fmt::format("{}", fmt::join(agent_launchers().names(), ", ")))
      ->option_text("NAME[:KEY=VALUE]...")
      ->required();
  command.add_option("--server", options->server, "address where 'd5 serve' listens for agents")
      ->option_text("HOST:PORT")
      ->required();
  command.add_option("--agents", options->agents, "number of agents (1)")
      ->check(CLI::Range(1, 10'000))
      ->option_text("N");
  command.add_option("OPTION", options->rest, "options of 'd5 agent run', after --")
      ->option_text(" ");
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
