// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace d5::detail {

/// A wait looks for a change this long, which is about what it costs to wake a thread, and then
/// sleeps: it takes no more from other work, and at most doubles its own delay (Karlin et al.,
/// "Empirical Studies of Competitive Spinning", SOSP 1991).
inline constexpr double kSpinSeconds = 100e-6;

/// The threads that compute. Piece i of a job runs on thread i, the caller is thread 0, so that
/// what a piece touched is near it the next time, and threads can be bound one by one.
///
/// Thread safety: all functions. One job runs at a time: a caller that finds another one at work,
/// or is inside one, computes all of its pieces by itself.
class ThreadPool {
 public:
  struct Job {
    void* body;
    void (*run)(void* body, std::int64_t piece);
  };

  /// Of the process. It is never destroyed: its threads may wait when the process ends.
  static ThreadPool& instance();
  /// What the calling thread computes with: its own share, or that of the process.
  static ThreadPool& of_thread();
  /// One of so many threads that nobody uses, for who shall have it alone; it is kept for the next
  /// when it is given back.
  static ThreadPool* take(int count);
  static void give_back(ThreadPool* share);
  /// The calling thread's share: its number of threads, 0 for none.
  struct Share {
    int count = 0;
    ThreadPool* pool = nullptr;
  };
  static Share& share();

  /// Runs pieces [0, pieces). They must not throw. Allocates where there were never so many.
  void run(std::int64_t pieces, const Job& job);

  /// Whether the calling thread is inside a job, also one that it computes by itself: what looks
  /// at this cuts its work alike, whether others keep the threads busy or not.
  [[nodiscard]] static bool inside();
  /// From now on the calling thread computes all pieces of its jobs by itself: it is beside the
  /// work that the threads are for, and takes none of them.
  static void compute_alone();

 private:
  explicit ThreadPool(int share = 0);
  struct alignas(64) Worker {
    std::atomic<std::uint32_t> turn = 0;  ///< counted up for each of its pieces
  };
  void grow(std::size_t workers);
  void work(Worker& worker, std::int64_t piece);

  const int share_;  ///< its number of threads where it is a share; 0: of the process
  const int forks_;  ///< after which it was made: a forked process does not have its threads
  std::mutex busy_;
  Job job_{};
  std::atomic<std::uint32_t> unfinished_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace d5::detail
