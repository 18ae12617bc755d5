// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"

namespace d5::detail {

struct NodeExchangeOptions {
  std::int64_t chunk_bytes = std::int64_t{256} << 10;  ///< at most so much of a rank's data at once
  std::int64_t stages = 4;                             ///< chunks under way
};

/// All-reduces and broadcasts of the ranks of a node, one after the other in the order of their
/// start, through memory that they share.
///
/// Data goes chunk by chunk, in `stages` rooms that are used in turn; a room has a slot of each
/// rank. Of a chunk rank r writes the segments of the others to its slot, reduces segment r over
/// all ranks in their order, writes the sum to its own slot, where it left room for it, and reads
/// the other segments from the slots of whoever reduced them. Three counters a rank tell the
/// others how many chunks it is through with each; a room is free again when all have read it.
///
/// Thread safety: all calls, of one rank's owner and of its progress thread.
class NodeExchange {
 public:
  /// A collective of `ranks`, which outlive it. Throws: as `NodeMemory::make`.
  NodeExchange(Communicator& ranks, const NodeExchangeOptions& options);

  [[nodiscard]] std::unique_ptr<Request> start_all_reduce(const Tensor& data, Reduction reduction,
                                                          std::int64_t chunk_bytes = 0);
  /// The same where others count and watch it, and nothing is done of it before its request is
  /// asked. `chunk_bytes`: at most those of the memory; 0: these.
  [[nodiscard]] std::unique_ptr<Request> queue_all_reduce(const Tensor& data, Reduction reduction,
                                                          std::int64_t chunk_bytes);
  [[nodiscard]] std::int64_t chunk_bytes(std::int64_t asked) const;
  /// A rank begins when its `*may_begin` is true; what it started after it waits.
  [[nodiscard]] std::unique_ptr<Request> start_broadcast(
      const Tensor& data, int root, std::shared_ptr<std::atomic<bool>> may_begin);
  /// Goes as far as it can without waiting, with all that are under way.
  [[nodiscard]] bool is_done(std::int64_t operation);

 private:
  static constexpr int kNoRoot = -1;  // an all-reduce
  struct Operation {
    Tensor data;
    Reduction reduction = Reduction::sum;
    int root = kNoRoot;
    std::shared_ptr<std::atomic<bool>> may_begin = {};
    std::int64_t chunk_bytes = 0;                              ///< set when it is queued
    std::shared_ptr<std::atomic<std::int64_t>> ended_ns = {};  ///< the same; when it was read
  };
  struct Chunk;
  struct Counters;
  /// How far one of the three steps is.
  struct Place {
    std::int64_t operation = 0, begin = 0, chunk = 0;  // begin: first element, within the operation
  };

  std::unique_ptr<Request> start(Operation operation);
  std::unique_ptr<Request> queue(Operation operation);
  [[nodiscard]] const Operation* at(const Place& place) const;
  [[nodiscard]] Chunk chunk_at(const Place& place) const;
  void pass(Place& place) const;
  [[nodiscard]] std::byte* slot(std::int64_t chunk, int rank) const;
  template <class Step>
  [[nodiscard]] bool all_through(Step step, std::int64_t chunks) const;
  /// Strands of one thread never run at once.
  [[nodiscard]] std::unique_lock<std::mutex> lock_against_threads();
  void advance();
  bool write_one();
  bool reduce_one();
  bool read_one();
  void reduce(const Chunk& chunk);

  std::mutex mutex_;
  Communicator& ranks_;
  int rank_, size_;
  std::int64_t chunk_bytes_, stages_;
  std::shared_ptr<NodeMemory> memory_;
  Counters* counters_;
  std::byte* slots_;
  std::deque<Operation> operations_;  // those that are not read yet
  std::int64_t started_ = 0;
  Place write_at_, reduce_at_, read_at_;
  bool advancing_ = false;
};

/// Waits until all of `ranks` have come here; schedules that are under way go on meanwhile.
void meet(Communicator& ranks);

}  // namespace d5::detail
