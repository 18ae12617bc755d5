// SPDX-License-Identifier: Apache-2.0
#include "d5/core/threads.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/pinning.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

int allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, int(std::thread::hardware_concurrency()));
}

struct State {
  std::mutex mutex;
  std::atomic<int> count = allowed_cores();
  std::vector<std::function<void(int)>> listeners;
};
State& state() {
  static State s;
  return s;
}

}  // namespace

int threads() { return state().count; }

void set_threads(int count) {
  if (count < 1) throw ValueError(fmt::format("threads is {}, expected 1 or more", count));
  const std::lock_guard lock(state().mutex);
  state().count = count;
  for (const auto& listener : state().listeners) listener(count);
  detail::follow_thread_count();
}

void on_threads_changed(std::function<void(int)> listener) {
  const std::lock_guard lock(state().mutex);
  listener(state().count);
  state().listeners.push_back(std::move(listener));
}

namespace detail {

void run_pieces(std::int64_t count, std::int64_t pieces, const void* body, LoopBody call) {
  // An exception must not leave a parallel region: that of the first piece that threw does after.
  std::exception_ptr error;
  std::int64_t thrower = pieces;
  std::mutex mutex;
#pragma omp parallel for num_threads(int(pieces)) schedule(static, 1)
  for (std::int64_t i = 0; i < pieces; ++i) {
    try {
      call(body, count / pieces * i + std::min(i, count % pieces),
           count / pieces * (i + 1) + std::min(i + 1, count % pieces));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (i < thrower) thrower = i, error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace d5
