// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches_ahead.hpp"

#include <utility>

namespace d5::python {

BatchesAhead::BatchesAhead(Read read) : state_(std::make_shared<State>()) {
  state_->read = std::move(read);
  thread_ = std::thread([state = state_] { state->work(); });
}

BatchesAhead::~BatchesAhead() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (is_within_read()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool BatchesAhead::is_within_read() const { return std::this_thread::get_id() == thread_.get_id(); }

void BatchesAhead::State::work() {
  constexpr std::size_t kMost = 2;
  while (true) {
    std::shared_ptr<OwnedBatch> batch;
    std::exception_ptr read_failure;
    try {
      batch = read();
    } catch (...) {
      read_failure = std::current_exception();
    }
    std::unique_lock lock(mutex);
    failure = read_failure;
    ended = failure || !batch;
    if (batch) ready.push_back(std::move(batch));
    changed.notify_all();
    if (ended) return;
    changed.wait(lock, [&] { return stop || ready.size() < kMost; });
    if (stop) return;
  }
}

std::shared_ptr<OwnedBatch> BatchesAhead::next() {
  std::unique_lock lock(state_->mutex);
  auto& ready = state_->ready;
  state_->changed.wait(lock, [&] { return state_->ended || !ready.empty(); });
  if (ready.empty()) {
    if (state_->failure) std::rethrow_exception(std::exchange(state_->failure, nullptr));
    return nullptr;
  }
  auto batch = std::move(ready.front());
  ready.pop_front();
  state_->changed.notify_all();
  return batch;
}

}  // namespace d5::python
