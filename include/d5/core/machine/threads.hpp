// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

namespace d5 {

/// The number of threads that every part of d5 and every loaded framework computes with.
[[nodiscard]] int threads();
/// Tells d5's own loops and every loaded framework. Throws: ValueError if not positive.
void set_threads(int count);
/// Asks to be told of every change, and is told the present number at once.
void on_threads_changed(std::function<void(int)> listener);

namespace detail {
using LoopBody = void (*)(const void* body, std::int64_t begin, std::int64_t end);
void run_pieces(std::int64_t count, std::int64_t pieces, const void* body, LoopBody call);
}  // namespace detail

/// Calls `body(begin, end)` on pieces of [0, count) of at least `grain`, on `threads()` threads.
/// Pieces depend on `count`, `grain` and `threads()` alone. An exception of `body` comes out after
/// all pieces have ended. Allocates nothing; a single piece is a plain call.
template <class F>
void parallel_for(std::int64_t count, std::int64_t grain, const F& body) {
  if (count <= 0) return;
  const std::int64_t most = grain > 1 ? count / grain : count;
  if (most <= 1) return body(std::int64_t{0}, count);
  const std::int64_t pieces = std::min<std::int64_t>(threads(), most);
  if (pieces <= 1) return body(std::int64_t{0}, count);
  detail::run_pieces(count, pieces, &body, [](const void* f, std::int64_t begin, std::int64_t end) {
    (*static_cast<const F*>(f))(begin, end);
  });
}

/// Binds the threads that compute to one core each, and all others of this process, such as those
/// that a framework makes later, to the same cores. Later changes of `threads()` are followed.
///
/// `first` is the place of the first core among those that the process may use: ranks on one
/// machine pass theirs times `threads()`. Returns what was done: "cores 0-1", "none: ...".
std::string pin_threads(int first = 0);
/// What `pin_threads` did, or "none".
[[nodiscard]] std::string pinning();

}  // namespace d5
