// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace d5 {

namespace detail {
class ThreadPool;
}

/// A private thread pool for the calling thread. While it lives, `threads()` returns `count` on
/// that thread, and its loops run on `count` threads that no other thread uses, instead of the
/// process's pool. The same holds for executors that are made and run there, also in frameworks:
/// executors on several threads with a share each run concurrently without waiting for each other.
///
///     std::jthread instance([&] {
///       const ThreadShare share(2);
///       const auto executor = make_executor(network, {.frameworks = {"torch"}});
///       while (take(inputs)) answer(executor->inference(inputs));
///     });
///
/// Shares may nest on a thread: the innermost applies. Their threads are not pinned. Exception:
/// TensorFlow has one number of threads per process, set by `set_threads`.
class ThreadShare {
 public:
  /// Throws: ValueError if not positive.
  explicit ThreadShare(int count);
  /// Must run on the thread that constructed it.
  ~ThreadShare();
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;

 private:
  int before_;
  detail::ThreadPool* pool_before_;
};

/// Registers a listener that is called when a share begins or ends, on its thread, with the new
/// number of threads. For frameworks that keep that number per thread.
void on_thread_share(std::function<void(int)> listener);

}  // namespace d5
