// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/tensor/device.hpp"

namespace d5 {

/// A point in a stream's queue: reached when all work queued before it is done.
class Moment {
 public:
  virtual ~Moment() = default;
  /// Blocks the calling thread until the moment is reached. Throws: the error of the work before
  /// it.
  virtual void wait() = 0;
  [[nodiscard]] virtual bool reached() = 0;
};

/// A queue of work on one device. Work runs in order, and may run after the call that queued it
/// returns. The host's stream runs it at once.
///
/// Thread safety: one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  [[nodiscard]] virtual Device device() const = 0;
  /// Blocks until all queued work is done. Throws: the error of that work.
  virtual void synchronise() = 0;
  [[nodiscard]] virtual std::shared_ptr<Moment> record() = 0;
  /// Makes work that is queued later wait for `moment`, of any stream. Does not block the host if
  /// the device can wait itself.
  virtual void wait(const std::shared_ptr<Moment>& moment) = 0;
  /// The device's own handle (a cudaStream_t), or null.
  [[nodiscard]] virtual void* native() { return nullptr; }
};

/// The stream of the host: everything is done when a call returns.
[[nodiscard]] Stream& host_stream();

}  // namespace d5
