// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool/thread_pool.hpp"

#include <pthread.h>

#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "d5/core/clocks/clock.hpp"

namespace d5::detail {
namespace {

thread_local bool is_inside = false;
thread_local ThreadPool::Share share_of_thread;

/// Waits until `word` is not `old`, and returns its value.
std::uint32_t changed(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  const double end = now_seconds() + kSpinSeconds;
  for (;;) {
    const std::uint32_t value = word.load(std::memory_order_acquire);
    if (value != old) return value;
    if (now_seconds() >= end) word.wait(old, std::memory_order_acquire);
  }
}

ThreadPool* pool = nullptr;

/// Unused pools of shares, by number of threads.
struct FreePools {
  std::mutex mutex;
  std::multimap<int, ThreadPool*> pools;
};
FreePools* free_pools = nullptr;
int forks = 0;  ///< number of forks since the first process

}  // namespace

ThreadPool& ThreadPool::instance() {
  static std::once_flag made;
  std::call_once(made, [] {
    pool = new ThreadPool;
    free_pools = new FreePools;
    // A forked process has only the caller's thread.
    pthread_atfork(nullptr, nullptr, [] {
      pool = new ThreadPool;
      free_pools = new FreePools;
      ++forks;
    });
  });
  return *pool;
}

ThreadPool& ThreadPool::of_thread() {
  ThreadPool& of_process = instance();
  auto& [count, own] = share_of_thread;
  if (!own) return of_process;
  if (own->forks_ != forks) own = new ThreadPool(count);  // its threads do not exist after a fork
  return *own;
}

ThreadPool* ThreadPool::take(int count) {
  (void)instance();
  const std::lock_guard lock(free_pools->mutex);
  const auto kept = free_pools->pools.find(count);
  if (kept == free_pools->pools.end()) return new ThreadPool(count);
  ThreadPool* const result = kept->second;
  free_pools->pools.erase(kept);
  return result;
}

void ThreadPool::give_back(ThreadPool* share) {
  if (share->forks_ != forks) return;
  const std::lock_guard lock(free_pools->mutex);
  free_pools->pools.emplace(share->share_, share);
}

ThreadPool::Share& ThreadPool::share() { return share_of_thread; }

ThreadPool::ThreadPool(int share) : share_(share), forks_(forks) {}

bool ThreadPool::inside() { return is_inside; }
void ThreadPool::compute_alone() { is_inside = true; }

void ThreadPool::grow(std::size_t workers) {
  while (workers_.size() < workers) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    const auto piece = std::int64_t(workers_.size());
    std::thread([this, &worker, piece] { work(worker, piece); }).detach();
  }
}

void ThreadPool::work(Worker& worker, std::int64_t piece) {
  is_inside = true;
  share_of_thread = {share_, share_ ? this : nullptr};  // partitions work as its caller does
  for (std::uint32_t turn = 0;;) {
    turn = changed(worker.turn, turn);
    job_.run(job_.body, piece);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  }
}

void ThreadPool::run(std::int64_t pieces, const Job& job) {
  const bool was_inside = std::exchange(is_inside, true);
  std::unique_lock lock(busy_, std::defer_lock);
  if (pieces <= 1 || was_inside || !lock.try_lock()) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) job.run(job.body, piece);
    is_inside = was_inside;
    return;
  }
  grow(std::size_t(pieces - 1));
  job_ = job;
  unfinished_.store(std::uint32_t(pieces - 1), std::memory_order_release);
  for (std::int64_t i = 0; i < pieces - 1; ++i) {
    auto& turn = workers_[std::size_t(i)]->turn;
    turn.fetch_add(1, std::memory_order_release);
    turn.notify_one();
  }
  job.run(job.body, 0);
  is_inside = false;
  for (std::uint32_t left = unfinished_.load(std::memory_order_acquire); left > 0;) {
    left = changed(unfinished_, left);
  }
}

}  // namespace d5::detail
