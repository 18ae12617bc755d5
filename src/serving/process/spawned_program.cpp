// SPDX-License-Identifier: Apache-2.0
#include "serving/process/spawned_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// How the program is started: its group, its signals, what it reads and writes, nothing else open.
struct SpawnOrders {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  explicit SpawnOrders(const SpawnedStreams& streams) {
    posix_spawn_file_actions_init(&files);
    stream(streams.input, STDIN_FILENO, O_RDONLY);
    stream(streams.output, STDOUT_FILENO, O_WRONLY);
    stream(streams.error, STDERR_FILENO, O_WRONLY);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
  }
  ~SpawnOrders() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnOrders(const SpawnOrders&) = delete;
  SpawnOrders& operator=(const SpawnOrders&) = delete;

 private:
  void stream(int from, int as, int mode) {
    if (from >= 0) {
      posix_spawn_file_actions_adddup2(&files, from, as);
    } else {
      posix_spawn_file_actions_addopen(&files, as, "/dev/null", mode, 0);
    }
  }
};

}  // namespace

pid_t spawn(std::vector<std::string> command, const SpawnedStreams& streams,
            std::vector<std::string> more) {
  std::vector<std::string> variables = std::move(more);
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("D5_TOKEN=")) variables.emplace_back(text);  // the agent's alone
  }
  variables.push_back(fmt::format("D5_ENDS_WITH={}", ::getpid()));
  const SpawnOrders orders(streams);
  pid_t process = -1;
  const int failed =
      ::posix_spawn(&process, command.at(0).c_str(), &orders.files, &orders.attributes,
                    pointers(command).data(), pointers(variables).data());
  if (failed == 0) return process;
  throw IoError(fmt::format("cannot start '{}': {}", printable(command[0]), std::strerror(failed)));
}

}  // namespace d5::detail
