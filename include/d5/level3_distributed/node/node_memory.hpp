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

/// Memory that all ranks of a node read and write. It has no name in any file system, so that
/// nothing of it is left whenever and however its ranks end; its room is taken when it is made.
///
///     auto memory = NodeMemory::make(*node_group(*world()), 1 << 20);
///     Tensor shared = memory->at(0, {DType::float32, {1000}});      // the same bytes on each rank
///
/// Thread safety: the memory is the callers', as between threads of one process.
class NodeMemory : public std::enable_shared_from_this<NodeMemory> {
 public:
  /// `bytes` of zeros. A collective of `ranks`. Throws, on every rank alike: MemoryError where
  /// /dev/shm has no room for it, Unsupported where the ranks are not of one node, ValueError where
  /// they ask for different numbers of bytes, IoError where one of them cannot open it.
  [[nodiscard]] static std::shared_ptr<NodeMemory> make(Communicator& ranks, std::size_t bytes);
  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Begins a page.
  [[nodiscard]] std::byte* data() const { return data_; }
  /// A tensor in it, which keeps it alive. Throws: ShapeError past its end.
  [[nodiscard]] Tensor at(std::size_t offset_bytes, const TensorDesc& desc);

 private:
  NodeMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::byte* data_;
  std::size_t bytes_;
};

/// The ranks of `ranks` that can share memory with this one: of the same boot of a machine, the
/// same /dev/shm and the same process numbers (containers differ in the last two). A collective.
[[nodiscard]] std::shared_ptr<Communicator> node_group(Communicator& ranks);
/// What tells this process's node from others.
[[nodiscard]] std::string node_identity(const Communicator& ranks);

/// A number in node memory, on lines of its own: who raises it publishes all that it wrote before.
struct alignas(128) NodeCounter {  // two lines: processors fetch them in pairs
  std::atomic<std::int64_t> value = 0;

  [[nodiscard]] std::int64_t read() const { return value.load(std::memory_order_acquire); }
  void write(std::int64_t to) { value.store(to, std::memory_order_release); }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Until `holds`, giving the core away in between: ranks may be more than cores. Whether it came
/// true by the deadline.
bool wait_in_node(
    const std::function<bool()>& holds,
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max());

/// A barrier in node memory, of one counter for each rank.
class NodeBarrier {
 public:
  static constexpr std::size_t bytes(int ranks) {
    return sizeof(NodeCounter) * static_cast<std::size_t>(ranks);
  }
  /// At `offset_bytes`, a multiple of 128, in memory that was zero.
  NodeBarrier(std::shared_ptr<NodeMemory> memory, std::size_t offset_bytes, int rank, int size);

  /// Whether all had come by the deadline. After false it is broken: its ranks no longer agree.
  bool arrive_and_wait(std::chrono::steady_clock::time_point deadline =
                           std::chrono::steady_clock::time_point::max());

 private:
  std::shared_ptr<NodeMemory> memory_;
  NodeCounter* counters_;
  int rank_, size_;
  std::int64_t turn_ = 0;
};

}  // namespace d5
