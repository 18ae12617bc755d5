// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches/batch_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/text/thread_pool.hpp"
#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"

namespace d5::detail {
namespace {

/// Small enough that one slow sample keeps one thread, and not all of the batch.
constexpr std::int64_t kPiecesPerThread = 4;

}  // namespace

BatchLoader::BatchLoader(BatchSource source, int threads)
    : source_(std::move(source)), pieces_(std::max<std::int64_t>(1, kPiecesPerThread * threads)) {
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  } catch (const std::system_error& error) {
    throw Unsupported(fmt::format(
        "read ahead: {} threads were asked for, and the system makes {}: {}; ask for fewer",
        threads, threads_.size(), error.what()));
  }
}

void BatchLoader::start(std::span<const BatchPlan> plans) {
  stop();
  const std::lock_guard lock(mutex_);
  plans_ = plans;
}

void BatchLoader::stop() {
  std::unique_lock lock(mutex_);
  next_ = opened_;
  idle_.wait(lock, [&] { return reading_ == 0; });
  for (Slot& slot : slots_) slot.memory.reset();
  given_ = next_ = opened_ = 0;
  plans_ = {};
}

std::shared_ptr<BatchMemory> BatchLoader::memory_of(std::int64_t size) {
  for (const auto& memory : memories_) {
    if (memory->size() == size && memory.use_count() == 1) return memory;
  }
  return memories_.emplace_back(std::make_shared<BatchMemory>(source_, size, pieces_));
}

/// Under the mutex: until `most` are in slots. Throws for the batch that is given next; for a later
/// one it is tried again, and thrown, when that is asked for.
void BatchLoader::open(std::size_t most) {
  while (opened_ < plans_.size() && opened_ - given_ < most) {
    const BatchPlan& plan = plans_[opened_];
    std::shared_ptr<BatchMemory> memory;
    try {
      memory = memory_of(std::int64_t(plan.samples.size()));
    } catch (...) {
      if (opened_ == given_) throw;
      return;
    }
    memory->begin(plan);
    slot(opened_++) = {.memory = std::move(memory)};
    opened_more_.notify_all();
  }
}

/// Reads a piece of the first batch that has one left; false if none has. The mutex is held before
/// and after.
bool BatchLoader::read_piece(std::unique_lock<std::mutex>& lock) {
  while (next_ < opened_ && slot(next_).taken == slot(next_).memory->pieces()) ++next_;
  if (next_ == opened_) return false;
  Slot& mine = slot(next_);
  BatchMemory& memory = *mine.memory;
  const std::size_t piece = mine.taken++;
  if (piece == 0) mine.begin = now_seconds();
  ++reading_;
  lock.unlock();
  memory.read(piece);
  lock.lock();
  if (++mine.done == memory.pieces()) {
    lock.unlock();
    memory.complete(now_seconds() - mine.begin);
    lock.lock();
    mine.complete = true;
    completed_.notify_all();
  }
  if (--reading_ == 0) idle_.notify_all();
  return true;
}

void BatchLoader::work(const std::stop_token& stop) {
  // The threads that compute belong to the network.
  ThreadPool::compute_alone();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (read_piece(lock)) continue;
    opened_more_.wait(lock, stop, [&] { return next_ < opened_; });
  }
}

std::shared_ptr<const Batch> BatchLoader::next() {
  std::unique_lock lock(mutex_);
  const std::size_t ahead = threads_.empty() ? 0 : kAhead;
  open(std::max<std::size_t>(ahead, 1));
  Slot& first = slot(given_);
  if (threads_.empty()) {
    while (read_piece(lock)) {
    }
  } else {
    const Span span("data", "wait for data");
    completed_.wait(lock, [&] { return first.complete; });
  }
  const std::shared_ptr<BatchMemory> memory = std::move(first.memory);
  next_ = std::max(next_, ++given_);
  try {
    const Batch& batch = memory->batch();
    if (opened_ > given_) open(ahead);
    return {memory, &batch};
  } catch (...) {
    lock.unlock();
    stop();
    throw;
  }
}

}  // namespace d5::detail
