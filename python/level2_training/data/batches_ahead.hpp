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

/// A batch with what it points to.
struct OwnedBatch {
  Batch batch;
  std::vector<std::int64_t> samples;
};

/// A thread that asks for batches before they are needed, two of them at the most. Made, asked and
/// ended without the GIL, which the thread takes.
class BatchesAhead {
 public:
  /// `read` gives null at the end; what it throws, the `next` of that batch throws. It may end what
  /// owns this, as whoever lets go of an object last does.
  using Read = std::function<std::shared_ptr<OwnedBatch>()>;
  explicit BatchesAhead(Read read);
  /// Waits for the thread, unless it is the one that ends this.
  ~BatchesAhead();
  BatchesAhead(const BatchesAhead&) = delete;
  BatchesAhead& operator=(const BatchesAhead&) = delete;

  /// Null after the last. After a throw the thread has ended: make another to go on.
  [[nodiscard]] std::shared_ptr<OwnedBatch> next();
  /// Whether the caller is called by `read`.
  [[nodiscard]] bool is_within_read() const;

 private:
  /// What the thread works with, which it may need for longer than this lives.
  struct State {
    Read read;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<OwnedBatch>> ready;  // the last one may be null: the end
    std::exception_ptr failure;
    bool stop = false, ended = false;

    void work();
  };

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace d5::python
