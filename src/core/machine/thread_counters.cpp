// SPDX-License-Identifier: Apache-2.0
#include "core/machine/thread_counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

namespace d5::detail {
namespace {

constexpr std::array<std::uint64_t, 4> kConfigs{
    PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_CACHE_MISSES,
    PERF_COUNT_HW_BRANCH_MISSES};

/// Opens a counter; -1 with errno on failure.
int open_counter(ProcessorEvent event, pid_t thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = kConfigs.at(std::size_t(event));
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  constexpr int kAnyProcessor = -1, kNoGroup = -1;
  return int(syscall(SYS_perf_event_open, &attributes, thread, kAnyProcessor, kNoGroup,
                     PERF_FLAG_FD_CLOEXEC));
}

std::string reason_of(int error) {
  const std::string what = fmt::format("perf_event_open: {}", std::strerror(error));
  if (error == EACCES || error == EPERM) {
    return what +
           "; /proc/sys/kernel/perf_event_paranoid must be 2 or less, and a container must "
           "allow the call";
  }
  return what + "; the processor, or the virtual machine, shows no such counter";
}

}  // namespace

ThreadCounters::ThreadCounters(ProcessorEvent event) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    const int file = open_counter(event, std::stoi(thread.path().filename().string()));
    if (file >= 0) {
      files_.push_back(file);
    } else if (errno != ESRCH) {  // the thread has ended
      absence_ = reason_of(errno);
      return;
    }
  }
}

ThreadCounters::~ThreadCounters() {
  for (const int file : files_) ::close(file);
}

double ThreadCounters::count() const {
  double sum = 0;
  for (const int file : files_) {
    struct {
      std::uint64_t count, enabled, running;
    } now{};
    if (::read(file, &now, sizeof now) != sizeof now || now.running == 0) continue;
    sum += double(now.count) * (double(now.enabled) / double(now.running));
  }
  return sum;
}

}  // namespace d5::detail
