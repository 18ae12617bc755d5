// SPDX-License-Identifier: Apache-2.0
#include "core/machine/pinning.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "core/machine/machine.hpp"
#include "d5/core/machine/threads.hpp"

namespace d5 {
namespace {

struct PinningState {
  std::mutex mutex;
  std::optional<int> first;  ///< first core of the last request; none: not pinned
  std::string done = "none";
};
PinningState& pinning_state() {
  static PinningState s;
  return s;
}

/// First core of the thread that called `pin_threads`; -1: another thread.
thread_local int own_core = -1;

/// Pins the calling thread. False if the system refuses.
bool bind(const std::vector<int>& hardware_threads) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : hardware_threads) CPU_SET(std::size_t(number), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::string pin(int first) {
  const auto& allowed = detail::machine().allowed;
  const int count = threads();
  if (first < 0 || first + count > int(allowed.size())) {
    bind(allowed);
    own_core = -1;
    return fmt::format("none: {} threads from place {} do not fit on {} hardware threads", count,
                       first, allowed.size());
  }
  const std::vector<int> chosen(allowed.begin() + first, allowed.begin() + first + count);
  std::atomic<bool> bound = true;
  parallel_for(count, 1, [&](std::int64_t i, std::int64_t) {  // piece i runs on thread i
    if (!bind({chosen[std::size_t(i)]})) bound = false;
  });
  // A framework's later threads inherit this thread's mask. It keeps the whole set of cores,
  // otherwise they would all share its core.
  if (!bind(chosen)) bound = false;
  own_core = bound ? chosen.front() : -1;
  return bound ? "cores " + detail::to_ranges(chosen) : "none: the system refuses to bind threads";
}

}  // namespace

std::string pin_threads(int first) {
  const std::lock_guard lock(pinning_state().mutex);
  pinning_state().first = first;
  return pinning_state().done = pin(first);
}

std::string pinning() {
  const std::lock_guard lock(pinning_state().mutex);
  return pinning_state().done;
}

void detail::follow_thread_count() {
  const std::lock_guard lock(pinning_state().mutex);
  if (pinning_state().first) pinning_state().done = pin(*pinning_state().first);
}

void detail::return_to_own_core() {
  if (own_core < 0 || sched_getcpu() == own_core) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (!CPU_ISSET(std::size_t(own_core), &allowed) || !bind({own_core})) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace d5
