// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

namespace d5 {

/// The number of threads that d5 and every loaded framework compute with.
[[nodiscard]] int threads();
/// Sets the number of threads of d5 and of every loaded framework. Throws: ValueError if not
/// positive.
void set_threads(int count);
/// Registers a listener that is called with the present number at once, and after every change.
void on_threads_changed(std::function<void(int)> listener);

namespace detail {
using LoopBody = void (*)(const void* body, std::int64_t begin, std::int64_t end);
void run_pieces(std::int64_t count, std::int64_t pieces, const void* body, LoopBody call);
}  // namespace detail

/// Calls `body(begin, end)` on pieces of [0, count) of at least `grain`, on `threads()` threads.
/// The partition depends on `count`, `grain` and `threads()` alone. An exception of `body` is
/// rethrown after all pieces have ended. Allocates nothing; a single piece is a plain call.
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

/// Pins each computing thread to one core, and all other threads of the process, such as a
/// framework's later ones, to the same set of cores. Follows later changes of `threads()`.
///
/// `first` is the index of the first core among those that the process may use: rank r on a machine
/// passes r * `threads()`. Returns a description: "cores 0-1", "none: ...".
std::string pin_threads(int first = 0);
/// The description that `pin_threads` returned, or "none".
[[nodiscard]] std::string pinning();

}  // namespace d5
