// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches/batch_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/thread_pool/thread_pool.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5::detail {
namespace {

/// Pieces are so small that a slow sample delays one thread, not the whole batch.
constexpr std::int64_t kPiecesPerThread = 4;

}  // namespace

BatchLoader::BatchLoader(BatchSource source, int threads)
    : source_(std::move(source)), pieces_(std::max<std::int64_t>(1, kPiecesPerThread * threads)) {
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back(
          [shared = shared_](const std::stop_token& stop) { shared->work(stop); });
    }
  } catch (const std::system_error& error) {
    throw Unsupported(fmt::format(
        "read ahead: {} threads were asked for, but the system starts only {}: {}; ask for fewer",
        threads, threads_.size(), error.what()));
  }
}

BatchLoader::~BatchLoader() {
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) {
    if (thread.get_id() == std::this_thread::get_id()) thread.detach();
  }
}

void BatchLoader::expect_outside() const {
  const bool inside = std::ranges::any_of(threads_, [](const std::jthread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  if (!inside) return;
  throw ValueError(fmt::format(
      "data set '{}': its read() asked for a batch of the sampler that reads it ahead, or moved "
      "or changed that; do so where batches are asked for",
      printable(source_.dataset->name())));
}

void BatchLoader::start(std::span<const BatchPlan> plans) {
  stop();
  plans_ = plans;
}

void BatchLoader::stop() {
  std::unique_lock lock(shared_->mutex);
  shared_->next = shared_->opened;
  shared_->idle.wait(lock, [&] { return shared_->reading == 0; });
  for (Slot& slot : shared_->slots) slot.memory.reset();
  shared_->given = shared_->next = shared_->opened = 0;
  plans_ = {};
}

std::shared_ptr<BatchMemory> BatchLoader::memory_of(std::int64_t size) {
  for (const auto& memory : memories_) {
    if (memory->size() == size && memory.use_count() == 1) return memory;
  }
  return memories_.emplace_back(std::make_shared<BatchMemory>(source_, size, pieces_));
}

/// Opens batches until `most` are in slots; called under the mutex. Throws for the next batch to be
/// returned; an error of a later one is retried, and thrown, when that is next.
void BatchLoader::open(std::size_t most) {
  Shared& shared = *shared_;
  while (shared.opened < plans_.size() && shared.opened - shared.given < most) {
    const BatchPlan& plan = plans_[shared.opened];
    std::shared_ptr<BatchMemory> memory;
    try {
      memory = memory_of(std::int64_t(plan.samples.size()));
    } catch (...) {
      if (shared.opened == shared.given) throw;
      return;
    }
    memory->begin(plan);
    const bool is_empty = memory->pieces() == 0;
    shared.slot(shared.opened++) = {.memory = std::move(memory), .complete = is_empty};
    shared.opened_more.notify_all();
  }
}

/// Reads the next piece of the first batch with a piece left; false if there is none. The mutex is
/// held before and after the call.
bool BatchLoader::Shared::read_piece(std::unique_lock<std::mutex>& lock) {
  while (next < opened && slot(next).taken == slot(next).memory->pieces()) ++next;
  if (next == opened) return false;
  Slot& mine = slot(next);
  BatchMemory& memory = *mine.memory;
  const std::size_t piece = mine.taken++;
  if (piece == 0) mine.begin = now_seconds();
  ++reading;
  lock.unlock();
  memory.read(piece);
  lock.lock();
  if (++mine.done == memory.pieces()) {
    lock.unlock();
    memory.complete(now_seconds() - mine.begin);
    lock.lock();
    mine.complete = true;
    completed.notify_all();
  }
  if (--reading == 0) idle.notify_all();
  return true;
}

void BatchLoader::Shared::work(const std::stop_token& stop) {
  // The compute threads are reserved for the network.
  ThreadPool::compute_alone();
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    if (read_piece(lock)) continue;
    opened_more.wait(lock, stop, [&] { return next < opened; });
  }
}

std::shared_ptr<const Batch> BatchLoader::next() {
  Shared& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  const std::size_t ahead = threads_.empty() ? 0 : kAhead;
  open(std::max<std::size_t>(ahead, 1));
  Slot& first = shared.slot(shared.given);
  if (threads_.empty()) {
    while (shared.read_piece(lock)) {
    }
  } else {
    const Span span("data", "wait for data");
    shared.completed.wait(lock, [&] { return first.complete; });
  }
  const std::shared_ptr<BatchMemory> memory = std::move(first.memory);
  shared.next = std::max(shared.next, ++shared.given);
  try {
    const Batch& batch = memory->batch();
    if (shared.opened > shared.given) open(ahead);
    return {memory, &batch};
  } catch (...) {
    lock.unlock();
    stop();
    throw;
  }
}

}  // namespace d5::detail
