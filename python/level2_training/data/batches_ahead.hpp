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

#include "d5/level2_training/sampler.hpp"

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
  /// `read` gives null at the end; what it throws, the `next` of that batch throws.
  using Read = std::function<std::shared_ptr<OwnedBatch>()>;
  explicit BatchesAhead(Read read);
  ~BatchesAhead();
  BatchesAhead(const BatchesAhead&) = delete;
  BatchesAhead& operator=(const BatchesAhead&) = delete;

  /// Null after the last. After a throw the thread has ended: make another to go on.
  [[nodiscard]] std::shared_ptr<OwnedBatch> next();

 private:
  void work();

  Read read_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<OwnedBatch>> ready_;  // the last one may be null: the end
  std::exception_ptr failure_;
  bool stop_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace d5::python
