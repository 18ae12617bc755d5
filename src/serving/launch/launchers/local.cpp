// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "d5/core/error.hpp"
#include "d5/serving/agent_launcher.hpp"
#include "serving/launch/shell_line.hpp"

namespace d5::agent_launcher {
namespace {

struct LocalOptions {
  std::string output = "/dev/null";
  void declare(OptionList& options) {
    options.add("output", output, "file to which what agents say is added");
  }
};

/// A process in a session of its own, which goes on when this one has ended.
pid_t start_apart(const std::string& line) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string words[] = {"sh", "-c", line};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t process = -1;
  const int error = posix_spawn(&process, "/bin/sh", nullptr, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw IoError(fmt::format("an agent cannot be started: {}", std::strerror(error)));
  }
  return process;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Processes of this machine.
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
      launched.ids.push_back(fmt::to_string(start_apart(line)));
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
  registry.add("local", AgentLauncherEntry::of<LocalLauncher>("processes of this machine"));
}

}  // namespace d5::agent_launcher
