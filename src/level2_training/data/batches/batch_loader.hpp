// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "level2_training/data/batches/batch_memory.hpp"

namespace d5::detail {

/// Returns a list of batches one after another. With threads a few batches are prefetched; without,
/// the caller reads them. Bits, order and errors are the same.
///
/// Thread safety: none for callers; its own threads are synchronised.
class BatchLoader {
 public:
  BatchLoader(BatchSource source, int threads);
  /// Waits for its threads. If reading destroys the owner (by releasing the last reference), the
  /// reading thread continues alone, and ends.
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Starts a new list. `plans`, and what they refer to, must stay until `stop` or destruction.
  void start(std::span<const BatchPlan> plans);
  [[nodiscard]] bool started() const { return !plans_.empty(); }
  /// Drops batches that were not returned. Afterwards no thread reads; returned batches stay valid.
  void stop();

  /// Returns the next batch, which must exist. Its memory is reused once it is released.
  /// Throws: what reading it threw; the loader is then stopped.
  [[nodiscard]] std::shared_ptr<const Batch> next();
  /// Throws: ValueError on one of its own threads, which would wait for itself.
  void expect_outside() const;

 private:
  /// Number of batches prefetched while the caller uses one: one that all threads work on, and one
  /// for threads that are done with it.
  static constexpr std::size_t kAhead = 2;
  struct Slot {
    std::shared_ptr<BatchMemory> memory;
    std::size_t taken = 0, done = 0;  // pieces
    double begin = 0;                 // start time of the first piece
    bool complete = false;
  };
  /// State shared by the threads; lives until the last of them ends.
  struct Shared {
    std::mutex mutex;  // guards everything below
    std::condition_variable_any opened_more;
    std::condition_variable completed, idle;
    // Indices into `plans_`: batches before `given` were returned, those from there to `opened` are
    // in slots, and `next` is at most the first one with a piece that no thread took.
    std::size_t given = 0, next = 0, opened = 0;
    std::array<Slot, kAhead> slots;
    int reading = 0;  // threads

    [[nodiscard]] Slot& slot(std::size_t number) { return slots[number % slots.size()]; }
    bool read_piece(std::unique_lock<std::mutex>& lock);
    void work(const std::stop_token& stop);
  };

  [[nodiscard]] std::shared_ptr<BatchMemory> memory_of(std::int64_t size);
  void open(std::size_t most);

  BatchSource source_;
  std::int64_t pieces_;
  std::vector<std::shared_ptr<BatchMemory>> memories_;  // free if there is no other reference
  std::span<const BatchPlan> plans_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<std::jthread> threads_;
};

}  // namespace d5::detail
