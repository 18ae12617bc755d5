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

  /// Gives these from now on. `plans`, and what they refer to, stay until `stop` or destruction.
  void start(std::span<const BatchPlan> plans);
  [[nodiscard]] bool started() const { return !plans_.empty(); }
  /// Forgets what was not given. When it returns nobody reads; batches that were given stay.
  void stop();

  /// The next one, whose memory is used again once nobody holds it. There must be one.
  /// Throws: what reading it threw; then it is stopped.
  [[nodiscard]] std::shared_ptr<const Batch> next();

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
  [[nodiscard]] Slot& slot(std::size_t number) { return slots_[number % slots_.size()]; }
  [[nodiscard]] std::shared_ptr<BatchMemory> memory_of(std::int64_t size);
  void open(std::size_t most);
  bool read_piece(std::unique_lock<std::mutex>& lock);
  void work(const std::stop_token& stop);

  BatchSource source_;
  std::int64_t pieces_;
  std::vector<std::shared_ptr<BatchMemory>> memories_;  // free where nobody else has it

  std::mutex mutex_;  // of all below
  std::condition_variable_any opened_more_;
  std::condition_variable completed_, idle_;
  std::span<const BatchPlan> plans_;
  // Batches by number in `plans_`: those before `given_` are given, those from there before
  // `opened_` are in slots, and the first with a piece that nobody took is not before `next_`.
  std::size_t given_ = 0, next_ = 0, opened_ = 0;
  std::array<Slot, kAhead> slots_;
  int reading_ = 0;                    // threads
  std::vector<std::jthread> threads_;  // the last member: they end before the rest
};

}  // namespace d5::detail
