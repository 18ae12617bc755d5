// SPDX-License-Identifier: Apache-2.0
#include "d5/core/machine/threads.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/machine/pinning.hpp"
#include "core/thread_pool/thread_pool.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/thread_share.hpp"

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
  std::vector<std::function<void(int)>> listeners, share_listeners;
};
State& state() {
  static State s;
  return s;
}

/// Notifies frameworks that keep the number per thread, on this thread.
void tell_share() {
  State& s = state();
  std::vector<std::function<void(int)>> listeners;
  {
    const std::lock_guard lock(s.mutex);
    listeners = s.share_listeners;
  }
  for (const auto& listener : listeners) listener(threads());
}

}  // namespace

int threads() {
  const int share = detail::ThreadPool::share().count;
  return share > 0 ? share : state().count.load();
}

void set_threads(int count) {
  constexpr int kMost = 4096;  // more than any machine has, so that it is a slip
  if (count < 1 || count > kMost) {
    throw ValueError(fmt::format("threads is {}, expected 1 to {}", count, kMost));
  }
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

void on_thread_share(std::function<void(int)> listener) {
  const std::lock_guard lock(state().mutex);
  if (detail::ThreadPool::share().count > 0) listener(threads());
  state().share_listeners.push_back(std::move(listener));
}

ThreadShare::ThreadShare(int count) {
  if (count < 1) throw ValueError(fmt::format("a share of {} threads, expected 1 or more", count));
  auto& share = detail::ThreadPool::share();
  before_ = share.count;
  pool_before_ = share.pool;
  share = {count, detail::ThreadPool::take(count)};
  tell_share();
}

ThreadShare::~ThreadShare() {
  auto& share = detail::ThreadPool::share();
  detail::ThreadPool::give_back(share.pool);
  share = {before_, pool_before_};
  tell_share();
}

namespace detail {

namespace {

/// A partitioned loop, and the exception of the first piece that threw.
struct Loop {
  std::int64_t count, pieces;
  const void* body;
  LoopBody call;
  std::mutex mutex = {};
  std::int64_t thrower = pieces;
  std::exception_ptr error = {};

  void run(std::int64_t i) {
    try {
      call(body, count / pieces * i + std::min(i, count % pieces),
           count / pieces * (i + 1) + std::min(i + 1, count % pieces));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (i < thrower) thrower = i, error = std::current_exception();
    }
  }
};

}  // namespace

void run_pieces(std::int64_t count, std::int64_t pieces, const void* body, LoopBody call) {
  Loop loop{.count = count, .pieces = pieces, .body = body, .call = call};
  ThreadPool::of_thread().run(pieces, {&loop, [](void* self, std::int64_t piece) {
                                         static_cast<Loop*>(self)->run(piece);
                                       }});
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace detail
}  // namespace d5
