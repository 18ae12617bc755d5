// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "d5/level2_training/data/sampler.hpp"

namespace d5::python {

/// A batch with the objects that it points to.
struct OwnedBatch {
  Batch batch;
  std::vector<std::int64_t> samples;
};

/// A thread that reads batches before they are needed, at most two of them. It is constructed,
/// asked and destroyed without the GIL, which the thread takes.
class BatchesAhead {
 public:
  /// Returns null at the end. Its exceptions are rethrown by the `next` of that batch. It may
  /// release the last reference to the owner of this object, and so destroy the owner.
  using Read = std::function<std::shared_ptr<OwnedBatch>()>;
  explicit BatchesAhead(Read read);
  /// Waits for the thread, unless it is the calling thread.
  ~BatchesAhead();
  BatchesAhead(const BatchesAhead&) = delete;
  BatchesAhead& operator=(const BatchesAhead&) = delete;

  /// Returns null after the last batch. After an exception the thread has ended: construct another
  /// one to continue.
  [[nodiscard]] std::shared_ptr<OwnedBatch> next();
  /// Whether `read` is the caller.
  [[nodiscard]] bool is_within_read() const;

 private:
  /// State of the thread, which may outlive this object.
  struct State {
    Read read;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<OwnedBatch>> ready;  // a null at the back marks the end
    std::exception_ptr failure;
    bool stop = false, ended = false;

    void work();
  };

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace d5::python
