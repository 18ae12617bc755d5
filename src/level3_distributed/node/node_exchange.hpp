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
  std::int64_t chunk_bytes = std::int64_t{256}
                             << 10;  ///< maximum bytes of a rank's data in a chunk
  std::int64_t stages = 4;           ///< chunks in flight
};

/// All-reduces and broadcasts of the ranks of a node through shared memory, one after the other in
/// the order of their start.
///
/// Data is processed in chunks, in `stages` buffers used in turn; each buffer has one slot per
/// rank. For each chunk rank r writes the segments of the other ranks to its slot, reduces segment
/// r over all ranks in rank order, writes the sum to its own slot, and reads the other segments
/// from the slots of the ranks that reduced them. Three counters per rank publish how many chunks
/// it has written, reduced and read; a buffer is free again when all ranks have read it.
///
/// Thread safety: all calls may be made by a rank's owner and its progress thread.
class NodeExchange {
 public:
  /// A collective of `ranks`, which must outlive this object. Throws: as `NodeMemory::make`.
  NodeExchange(Communicator& ranks, const NodeExchangeOptions& options);

  [[nodiscard]] std::unique_ptr<Request> start_all_reduce(const Tensor& data, Reduction reduction,
                                                          std::int64_t chunk_bytes = 0);
  /// Queues an all-reduce that the caller counts and watches; it makes no progress until its
  /// request is polled. `chunk_bytes` is at most the memory's; 0: the memory's.
  [[nodiscard]] std::unique_ptr<Request> queue_all_reduce(const Tensor& data, Reduction reduction,
                                                          std::int64_t chunk_bytes);
  [[nodiscard]] std::int64_t chunk_bytes(std::int64_t asked) const;
  /// Starts a broadcast; a rank begins once its `*may_begin` is true, and its later operations
  /// wait.
  [[nodiscard]] std::unique_ptr<Request> start_broadcast(
      const Tensor& data, int root, std::shared_ptr<std::atomic<bool>> may_begin);
  /// Progresses all operations as far as possible without waiting; returns whether `operation` is
  /// done.
  [[nodiscard]] bool is_done(std::int64_t operation);

 private:
  static constexpr int kNoRoot = -1;  // for an all-reduce
  struct Operation {
    Tensor data;
    Reduction reduction = Reduction::sum;
    int root = kNoRoot;
    std::shared_ptr<std::atomic<bool>> may_begin = {};
    std::int64_t chunk_bytes = 0;                              ///< set when queued
    std::shared_ptr<std::atomic<std::int64_t>> ended_ns = {};  ///< set when queued; end time
  };
  struct Chunk;
  struct Counters;
  /// Progress of one of the three steps.
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
  /// A lock against other threads; strands of one thread never run concurrently.
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
  std::deque<Operation> operations_;  // not completely read yet
  std::int64_t started_ = 0;
  Place write_at_, reduce_at_, read_at_;
  bool advancing_ = false;
};

/// A barrier of `ranks` that progresses schedules in flight meanwhile.
void meet(Communicator& ranks);

}  // namespace d5::detail
