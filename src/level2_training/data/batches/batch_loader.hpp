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

/// Gives a list of batches one after another. With threads they are read ahead of who asks, a few
/// batches at most; without, by who asks. The bits, the order and the errors are the same.
///
/// Thread safety: none; its own threads are its own business.
class BatchLoader {
 public:
  BatchLoader(BatchSource source, int threads);
  /// Waits for its threads. Where reading ended what owns this (whoever lets go of an object last
  /// does), the thread that reads goes on alone, and ends.
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Gives these from now on. `plans`, and what they refer to, stay until `stop` or destruction.
  void start(std::span<const BatchPlan> plans);
  [[nodiscard]] bool started() const { return !plans_.empty(); }
  /// Forgets what was not given. When it returns nobody reads; batches that were given stay.
  void stop();

  /// The next one, whose memory is used again once nobody holds it. There must be one.
  /// Throws: what reading it threw; then it is stopped.
  [[nodiscard]] std::shared_ptr<const Batch> next();
  /// Throws: ValueError on a thread of its own, which would wait for itself.
  void expect_outside() const;

 private:
  /// Read ahead while the caller works on a batch of his: one that all threads are at, and one for
  /// those that are done with it.
  static constexpr std::size_t kAhead = 2;
  struct Slot {
    std::shared_ptr<BatchMemory> memory;
    std::size_t taken = 0, done = 0;  // pieces
    double begin = 0;                 // of the first piece
    bool complete = false;
  };
  /// What the threads share; it stays until the last of them ends.
  struct Shared {
    std::mutex mutex;  // of all below
    std::condition_variable_any opened_more;
    std::condition_variable completed, idle;
    // Batches by number in `plans_`: those before `given` are given, those from there before
    // `opened` are in slots, and the first with a piece that nobody took is not before `next`.
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
  std::vector<std::shared_ptr<BatchMemory>> memories_;  // free where nobody else has it
  std::span<const BatchPlan> plans_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<std::jthread> threads_;
};

}  // namespace d5::detail
