// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "d5/core/machine/threads.hpp"

namespace d5::detail {

/// Runs tasks on threads in chunks. The tasks of a chunk run in order, on one thread, with its own
/// scratch.
class Chunks {
 public:
  Chunks() = default;
  /// `tasks` tasks with `products` multiplications in total.
  Chunks(std::int64_t tasks, double products)
      : count_(std::clamp<std::int64_t>(tasks, 1,
                                        products < kLeastParallelProducts ? 1 : threads())) {}

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Calls `body(chunk, task)` for every task.
  template <class F>
  void for_each(std::int64_t tasks, const F& body) const {
    parallel_for(count_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        const std::int64_t last = tasks * (chunk + 1) / count_;
        for (std::int64_t task = tasks * chunk / count_; task < last; ++task) body(chunk, task);
      }
    });
  }

 private:
  // Below this, waking a second thread costs more than it saves.
  static constexpr double kLeastParallelProducts = 1 << 17;
  std::int64_t count_ = 1;
};

}  // namespace d5::detail
