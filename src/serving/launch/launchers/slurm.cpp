// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/files/scratch_folder.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/serving/launch/agent_launcher.hpp"
#include "serving/launch/shell_line.hpp"

namespace d5::agent_launcher {
namespace {

struct SlurmOptions {
  std::string partition, account, output = "/dev/null", extra;
  std::int64_t cpus = 0, minutes = 0;
  void declare(OptionList& options) {
    options.add("partition", partition, "partition; empty: the cluster's default");
    options.add("account", account, "account that is charged");
    options.add("cpus", cpus, "CPUs of each agent; 0: the partition's default", {.least = 0});
    options.add("minutes", minutes, "time limit of an agent in minutes; 0: the partition's default",
                {.least = 0});
    options.add("output", output, "file for the agents' output, as sbatch's pattern: d5-%A-%a.log");
    options.add("extra", extra, "one more option of sbatch, as --gres=gpu,1");
  }
};

/// An array of jobs, one per agent. Names are the same from launch to launch, so that an agent
/// sends the results that an earlier one of its name could not send.
class SlurmLauncher final : public AgentLauncher {
 public:
  using Options = SlurmOptions;
  explicit SlurmLauncher(Options options) : options_(std::move(options)) {}

  LaunchedAgents launch(const AgentLaunch& what) override {
    const detail::ScratchFolder folder("launch");
    const std::string script = folder / "agent.sh";  // sbatch keeps a copy
    write_file(script,
               fmt::format("#!/bin/sh\nexec {}\n", detail::shell_line(what.command,
                                                                      " --name \"$SLURMD_NODENAME."
                                                                      "$SLURM_ARRAY_TASK_ID\"")));
    std::string answer;
    try {
      answer = detail::output_of(command_for(what.agents, script));
    } catch (const Unsupported&) {
      throw Unsupported("launcher slurm: sbatch is not there; run this where jobs are submitted");
    }
    // "17", or "17;cluster".
    const std::string job = answer.substr(0, answer.find_first_of(";\r\n"));
    LaunchedAgents launched{.ids = {}, .watch = "squeue -j " + job, .end = "scancel " + job};
    for (int i = 0; i < what.agents; ++i) launched.ids.push_back(fmt::format("{}_{}", job, i));
    return launched;
  }

 private:
  [[nodiscard]] std::vector<std::string> command_for(int agents, const std::string& script) const {
    std::vector<std::string> command = {"sbatch", "--parsable", "--job-name=d5-agent",
                                        fmt::format("--array=0-{}", agents - 1),
                                        "--output=" + options_.output,
                                        // A signal one minute before the time limit lets it end in
                                        // order.
                                        "--signal=B:TERM@60"};
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) command.push_back(fmt::format("--{}={}", name, value));
    };
    add("partition", options_.partition);
    add("account", options_.account);
    if (options_.cpus > 0) add("cpus-per-task", fmt::to_string(options_.cpus));
    if (options_.minutes > 0) add("time", fmt::to_string(options_.minutes));
    if (!options_.extra.empty()) command.push_back(options_.extra);
    command.push_back(script);
    return command;
  }

  Options options_;
};

}  // namespace

void register_slurm(Registry<AgentLauncherEntry>& registry) {
  registry.add("slurm", AgentLauncherEntry::of<SlurmLauncher>("Slurm jobs, by sbatch"));
}

}  // namespace d5::agent_launcher
