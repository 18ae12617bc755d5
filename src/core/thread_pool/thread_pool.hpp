// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace d5::detail {

/// Time for which a wait spins before it sleeps: about the cost of waking a thread, so that
/// spinning at most doubles the delay (Karlin et al., "Empirical Studies of Competitive Spinning",
/// SOSP 1991).
inline constexpr double kSpinSeconds = 100e-6;

/// A pool of computing threads. Piece i of a job runs on thread i, with the caller as thread 0, so
/// that data stays in the thread's caches, and threads can be pinned individually.
///
/// Thread safety: all functions. One job runs at a time: a caller that finds another job running,
/// or is inside one, computes all of its pieces itself.
class ThreadPool {
 public:
  struct Job {
    void* body;
    void (*run)(void* body, std::int64_t piece);
  };

  /// The process's pool. Never destroyed, because its threads may wait when the process ends.
  static ThreadPool& instance();
  /// The calling thread's pool: its share, or the process's.
  static ThreadPool& of_thread();
  /// An unused pool with this number of threads, for exclusive use; kept for reuse when it is
  /// returned.
  static ThreadPool* take(int count);
  static void give_back(ThreadPool* share);
  /// The calling thread's share: its number of threads, 0 for none.
  struct Share {
    int count = 0;
    ThreadPool* pool = nullptr;
  };
  static Share& share();

  /// Runs pieces [0, pieces), which must not throw. Allocates only for a new maximum of pieces.
  void run(std::int64_t pieces, const Job& job);

  /// Whether the calling thread is inside a job, including one that it computes alone. Code that
  /// depends on this partitions its work in the same way whether the threads are busy or not.
  [[nodiscard]] static bool inside();
  /// Makes the calling thread compute all pieces of its jobs itself from now on, so that it takes
  /// no threads from the main work.
  static void compute_alone();

 private:
  explicit ThreadPool(int share = 0);
  struct alignas(64) Worker {
    std::atomic<std::uint32_t> turn = 0;  ///< incremented for each of its pieces
  };
  void grow(std::size_t workers);
  void work(Worker& worker, std::int64_t piece);

  const int share_;  ///< number of threads of a share; 0: the process's pool
  const int forks_;  ///< number of forks at its construction: a forked process lacks its threads
  std::mutex busy_;
  Job job_{};
  std::atomic<std::uint32_t> unfinished_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace d5::detail
