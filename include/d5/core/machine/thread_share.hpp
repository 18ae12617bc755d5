// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace d5 {

namespace detail {
class ThreadPool;
}

/// Threads of its own for the calling thread: as long as this lives, `threads()` says `count` on
/// it, and its loops run on that many threads which nobody else uses, instead of those of the
/// process. So do executors that are made and run there, also in frameworks: several that run at
/// once, each on a thread with a share, do not wait for each other.
///
///     std::jthread instance([&] {
///       const ThreadShare share(2);
///       const auto executor = make_executor(network, {.frameworks = {"torch"}});
///       while (take(inputs)) answer(executor->inference(inputs));
///     });
///
/// One after the other on a thread, or one within the other: the inner one counts. They are not
/// pinned. TensorFlow alone has one number of threads a process, that of `set_threads`.
class ThreadShare {
 public:
  /// Throws: ValueError if not positive.
  explicit ThreadShare(int count);
  /// On the thread that made it.
  ~ThreadShare();
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;

 private:
  int before_;
  detail::ThreadPool* pool_before_;
};

/// Asks to be told, on each thread where a share begins or ends, how many threads it computes with
/// from then on: for a framework that keeps that number thread by thread.
void on_thread_share(std::function<void(int)> listener);

}  // namespace d5
