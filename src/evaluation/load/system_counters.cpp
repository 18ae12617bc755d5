// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/system_counters.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "core/machine/rapl.hpp"
#include "core/machine/thread_counters.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5::detail {
namespace {

struct Counted {
  ThreadCounters instructions{ProcessorEvent::instructions};
  ThreadCounters cache_misses{ProcessorEvent::cache_misses};
  Rapl energy;
  rusage before{};
};

std::atomic<bool> counts = false;
std::mutex counted_mutex;
std::unique_ptr<Counted> counted;

void tell(const char* name, double value) { Trace::count("system", name, value); }

/// A folder has two links more than it has subfolders.
double threads_of_process() {
  struct stat status{};
  return stat("/proc/self/task", &status) == 0 ? double(status.st_nlink) - 2 : 0;
}

}  // namespace

SystemCounters::SystemCounters() {
  const std::lock_guard lock(counted_mutex);
  counted = std::make_unique<Counted>();
  getrusage(RUSAGE_SELF, &counted->before);
  counts = true;
}

SystemCounters::~SystemCounters() {
  counts = false;
  const std::lock_guard lock(counted_mutex);
  counted.reset();
}

void SystemCounters::sample() {
  if (!counts.load(std::memory_order_relaxed)) [[likely]]
    return;
  const std::lock_guard lock(counted_mutex);
  if (!counted) return;
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  const rusage& before = counted->before;
  tell("minor faults", double(now.ru_minflt - before.ru_minflt));
  tell("major faults", double(now.ru_majflt - before.ru_majflt));
  tell("waits", double(now.ru_nvcsw - before.ru_nvcsw));
  tell("preemptions", double(now.ru_nivcsw - before.ru_nivcsw));
  tell("threads", threads_of_process());
  if (counted->instructions.absence().empty()) {
    tell("instructions", counted->instructions.count());
  }
  if (counted->cache_misses.absence().empty()) {
    tell("cache misses", counted->cache_misses.count());
  }
  if (counted->energy.absence().empty()) tell("energy", counted->energy.joules());
}

}  // namespace d5::detail
