// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "d5/core/tensor/tensor.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Shared memory of all ranks of a node. It has no name in any file system, so nothing remains of
/// it however its ranks end. Its pages are reserved when it is made.
///
///     auto memory = NodeMemory::make(*node_group(*world()), 1 << 20);
///     Tensor shared = memory->at(0, {DType::float32, {1000}});      // the same bytes on each rank
///
/// Thread safety: callers synchronise their accesses, as between threads of one process.
class NodeMemory : public std::enable_shared_from_this<NodeMemory> {
 public:
  /// Makes `bytes` of zeros. A collective of `ranks`.
  /// Throws: on every rank alike, MemoryError if /dev/shm is too small, Unsupported if the ranks
  /// are on several nodes, ValueError if they give different numbers of bytes, IoError if one of
  /// them cannot open it.
  [[nodiscard]] static std::shared_ptr<NodeMemory> make(Communicator& ranks, std::size_t bytes);
  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Begin of the memory, aligned to a page.
  [[nodiscard]] std::byte* data() const { return data_; }
  /// A tensor in this memory, which keeps it alive. Throws: ShapeError past its end.
  [[nodiscard]] Tensor at(std::size_t offset_bytes, const TensorDesc& desc);

 private:
  NodeMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::byte* data_;
  std::size_t bytes_;
};

/// The ranks that can share memory with this one: they have the same boot id, /dev/shm and PID
/// namespace (containers differ in the last two). A collective.
[[nodiscard]] std::shared_ptr<Communicator> node_group(Communicator& ranks);
/// Identifies this process's node.
[[nodiscard]] std::string node_identity(const Communicator& ranks);

/// A counter in node memory on cache lines of its own. `write` publishes all earlier writes
/// (release), `read` acquires them.
struct alignas(128) NodeCounter {  // two cache lines: processors prefetch pairs
  std::atomic<std::int64_t> value = 0;

  [[nodiscard]] std::int64_t read() const { return value.load(std::memory_order_acquire); }
  void write(std::int64_t to) { value.store(to, std::memory_order_release); }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Polls until `holds` returns true, yielding the core in between, since ranks may outnumber cores.
/// Returns whether it held by the deadline.
bool wait_in_node(
    const std::function<bool()>& holds,
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max());

/// A barrier in node memory with one counter for each rank.
class NodeBarrier {
 public:
  static constexpr std::size_t bytes(int ranks) {
    return sizeof(NodeCounter) * static_cast<std::size_t>(ranks);
  }
  /// Places the barrier at `offset_bytes`, a multiple of 128, in zeroed memory.
  NodeBarrier(std::shared_ptr<NodeMemory> memory, std::size_t offset_bytes, int rank, int size);

  /// Returns whether all ranks arrived by the deadline. After false the barrier is broken.
  bool arrive_and_wait(std::chrono::steady_clock::time_point deadline =
                           std::chrono::steady_clock::time_point::max());

 private:
  std::shared_ptr<NodeMemory> memory_;
  NodeCounter* counters_;
  int rank_, size_;
  std::int64_t turn_ = 0;
};

}  // namespace d5
