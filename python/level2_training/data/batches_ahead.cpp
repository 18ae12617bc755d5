// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches_ahead.hpp"

#include <utility>

namespace d5::python {

BatchesAhead::BatchesAhead(Read read) : read_(std::move(read)), thread_([this] { work(); }) {}

BatchesAhead::~BatchesAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BatchesAhead::work() {
  constexpr std::size_t kMost = 2;
  while (true) {
    std::shared_ptr<OwnedBatch> batch;
    std::exception_ptr failure;
    try {
      batch = read_();
    } catch (...) {
      failure = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    failure_ = failure;
    ended_ = failure || !batch;
    if (batch) ready_.push_back(std::move(batch));
    changed_.notify_all();
    if (ended_) return;
    changed_.wait(lock, [&] { return stop_ || ready_.size() < kMost; });
    if (stop_) return;
  }
}

std::shared_ptr<OwnedBatch> BatchesAhead::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ || !ready_.empty(); });
  if (ready_.empty()) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return nullptr;
  }
  auto batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

}  // namespace d5::python
