// SPDX-License-Identifier: Apache-2.0
// Run by node_memory_job_test under mpirun: ranks share node memory, and die by SIGKILL by
// argument: rank 1 instead of a barrier ("one"), rank 1 with a lock ("lock"), or "all". Prints "pid
// 12 inode 345", the inode of the memory's file.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"
#include "d5/level3_distributed/node/memory_window.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"

namespace {

using namespace d5;

/// Inode of the file that is mapped at an address; lines are "begin-end rights offset device inode
/// path".
std::string inode_at(const void* address) {
  const std::string begin = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(address));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.starts_with(begin)) continue;
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 5; ++i) words >> word;
    return word;
  }
  return "none";
}

void run(const std::string& way) {
  const auto ranks = std::make_shared<CallTimeout>(
      world(), CallTimeoutOptions{.timeout = std::chrono::seconds(2)});
  const auto memory = NodeMemory::make(*ranks, 1 << 20);
  const auto window = make_memory_window(ranks, 64);
  std::memset(memory->data(), 1, memory->bytes());
  std::printf("pid %d inode %s\n", static_cast<int>(getpid()), inode_at(memory->data()).c_str());
  std::fflush(stdout);
  if (way == "lock" && ranks->rank() == 1) {
    static const auto held = window->lock(1, WindowLockKind::exclusive);
    ranks->barrier();
    std::raise(SIGKILL);
  }
  ranks->barrier();
  if (way == "all" || (way == "one" && ranks->rank() == 1)) std::raise(SIGKILL);
  if (way == "lock") {
    const auto lock = window->lock(1, WindowLockKind::exclusive);
  } else {
    ranks->barrier();
  }
  std::printf("rank %d came to the end\n", ranks->rank());
}

}  // namespace

int main(int, char** argv) {
  try {
    run(argv[1]);
  } catch (const CommunicationError& error) {
    std::printf("CommunicationError: %s\n", error.what());
    std::fflush(stdout);
    _exit(1);  // without rank 1 a normal exit would wait
  }
  return 0;
}
