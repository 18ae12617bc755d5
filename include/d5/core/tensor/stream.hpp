// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/tensor/device.hpp"

namespace d5 {

/// A place in a stream's queue: reached when all work that was queued before it is done.
class Moment {
 public:
  virtual ~Moment() = default;
  /// Blocks the calling thread. Throws: what the work before it failed with.
  virtual void wait() = 0;
  [[nodiscard]] virtual bool reached() = 0;
};

/// A queue of work on one device. What is queued runs in order, and perhaps later than the call
/// that queued it; the host's stream runs it at once.
///
/// Thread safety: one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  [[nodiscard]] virtual Device device() const = 0;
  /// Blocks until all queued work is done. Throws: what it failed with.
  virtual void synchronise() = 0;
  [[nodiscard]] virtual std::shared_ptr<Moment> record() = 0;
  /// Work that is queued from now on begins after `moment`, of any stream. Does not block the host
  /// where the device can wait by itself.
  virtual void wait(const std::shared_ptr<Moment>& moment) = 0;
  /// The device's own handle (a cudaStream_t), or null.
  [[nodiscard]] virtual void* native() { return nullptr; }
};

/// The stream of the host: everything is done when a call returns.
[[nodiscard]] Stream& host_stream();

}  // namespace d5
