// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>

#include "core/process/program.hpp"
#include "d5/serving/launch/agent_launcher.hpp"
#include "serving/launch/shell_line.hpp"

namespace d5::agent_launcher {
namespace {

struct LocalOptions {
  std::string output = "/dev/null";
  void declare(OptionList& options) {
    options.add("output", output, "file to append the agents' output to");
  }
};

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Starts processes on this machine.
class LocalLauncher final : public AgentLauncher {
 public:
  using Options = LocalOptions;
  explicit LocalLauncher(Options options) : options_(std::move(options)) {}

  LaunchedAgents launch(const AgentLaunch& what) override {
    LaunchedAgents launched;
    for (int i = 0; i < what.agents; ++i) {
      auto command = what.command;
      command.insert(command.end(), {"--name", fmt::format("{}.{}", host_name(), i)});
      const std::string line =
          "exec " +
          detail::shell_line(command,
                             " </dev/null >>" + detail::shell_line({options_.output}) + " 2>&1");
      // Nobody waits for it: it continues after this process has ended.
      launched.ids.push_back(fmt::to_string(detail::start(
          {.words = {"/bin/sh", "-c", line}, .group = detail::Program::Group::session})));
    }
    launched.watch = fmt::format("ps -p {}", fmt::join(launched.ids, ","));
    launched.end = fmt::format("kill {}", fmt::join(launched.ids, " "));
    return launched;
  }

 private:
  Options options_;
};

}  // namespace

void register_local(Registry<AgentLauncherEntry>& registry) {
  registry.add("local", AgentLauncherEntry::of<LocalLauncher>("local processes of this machine"));
}

}  // namespace d5::agent_launcher
