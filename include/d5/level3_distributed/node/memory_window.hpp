// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "d5/core/tensor/tensor.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Kind of a lock: several holders may share it, or one holds it exclusively.
enum class WindowLockKind { shared, exclusive };

/// One-sided communication: memory of each rank that all others read and write without its
/// participation.
///
///     auto window = make_memory_window(world(), 8);
///     const auto ticket = window->fetch_and_add(0, 0, 1);          // a counter at rank 0
///     const auto lock = window->lock(2, WindowLockKind::exclusive);
///     window->put(gradient, 2, 0);
///
/// A put is visible to ranks that synchronise with its rank afterwards: by the same lock, or by
/// `flush` and then a message or a barrier. `accumulate` is atomic with respect to other
/// accumulates, element by element; `fetch_and_add` and `compare_and_swap` are atomic with respect
/// to each other. Other concurrent accesses to the same place need a lock.
///
/// Units: offsets in bytes from the start of the target's part. The communicator's `Traffic` counts
/// the calls by name; an access to the rank's own part counts as a call without bytes.
/// Throws: ValueError for ranks and offsets out of range; TypeError; CommunicationError.
/// Thread safety: as the communicator's; a lock is released by the thread that took it.
class MemoryWindow {
 public:
  /// Releases the lock when destroyed. The window must outlive it.
  class [[nodiscard]] Lock {
   public:
    explicit Lock(std::function<void()> unlock) : unlock_(std::move(unlock)) {}
    Lock(Lock&& other) noexcept : unlock_(std::exchange(other.unlock_, nullptr)) {}
    Lock& operator=(Lock&&) = delete;
    ~Lock() {
      if (unlock_) unlock_();
    }

   private:
    std::function<void()> unlock_;
  };

  explicit MemoryWindow(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}
  virtual ~MemoryWindow() = default;
  MemoryWindow(const MemoryWindow&) = delete;
  MemoryWindow& operator=(const MemoryWindow&) = delete;

  void put(const Tensor& data, int target, std::size_t offset);
  void get(Tensor& data, int target, std::size_t offset);
  /// Stores target ⊕ data in the target's part.
  void accumulate(const Tensor& data, int target, std::size_t offset,
                  Reduction reduction = Reduction::sum);
  /// Adds to an int64 at an offset that is a multiple of 8; returns its previous value.
  std::int64_t fetch_and_add(int target, std::size_t offset, std::int64_t value);
  /// Replaces the value if it equals `expected`; returns the previous value.
  std::int64_t compare_and_swap(int target, std::size_t offset, std::int64_t expected,
                                std::int64_t desired);

  /// Waits for the lock of a rank's part. The lock is advisory.
  /// Throws: CommunicationError once a rank has died while it held the lock: its data may be half
  /// written.
  Lock lock(int target, WindowLockKind kind);
  /// Completes all puts of this rank into the part of `target`.
  virtual void flush(int target) = 0;

  /// Size of the part of `rank`.
  [[nodiscard]] virtual std::size_t bytes(int rank) const = 0;
  /// This rank's part, as bytes.
  [[nodiscard]] virtual Tensor local() = 0;

 protected:
  // Implemented by subclasses; ranks, sizes and types are checked.
  virtual void do_put(const Tensor& data, int target, std::size_t offset) = 0;
  virtual void do_get(Tensor& data, int target, std::size_t offset) = 0;
  virtual void do_accumulate(const Tensor& data, int target, std::size_t offset,
                             Reduction reduction) = 0;
  virtual std::int64_t do_fetch_and_add(int target, std::size_t offset, std::int64_t value) = 0;
  virtual std::int64_t do_compare_and_swap(int target, std::size_t offset, std::int64_t expected,
                                           std::int64_t desired) = 0;
  virtual Lock do_lock(int target, WindowLockKind kind) = 0;
  [[nodiscard]] Communicator& ranks() const { return *ranks_; }

 private:
  void check(const char* call, int target, std::size_t offset, std::size_t bytes) const;
  void check(const char* call, const Tensor& data, int target, std::size_t offset) const;
  void check_word(const char* call, int target, std::size_t offset) const;
  void check_aligned(const char* call, std::size_t offset, std::size_t element) const;
  void count(const char* call, int target, std::size_t sent, std::size_t received);
  std::shared_ptr<Communicator> ranks_;
};

/// Windows of a transport's library: an optional part of a framework, beside its `Transport`.
class LibraryWindows {
 public:
  virtual ~LibraryWindows() = default;
  /// Implements `make_memory_window`.
  [[nodiscard]] virtual std::shared_ptr<MemoryWindow> make(std::shared_ptr<Communicator> ranks,
                                                           std::size_t bytes) = 0;
};

/// Location of a window's parts: `node` is shared memory of one node, `library` is the transport
/// library's window, also across nodes, and `automatic` prefers shared memory. Only `node` detects
/// that the holder of a lock has died; `library` waits for the lock, at most
/// `Communicator::longest_wait`.
///
/// The memory of a `library` window is freed when all ranks have released it and its `local`
/// tensors, and the same ranks create the next window or leave.
enum class MemoryWindowKind { automatic, node, library };

/// Makes a window; this rank's part is `bytes` zeros. Sizes may differ between ranks. A collective.
/// Throws: Unsupported for `node` if the ranks are on several nodes, and for `library` if no
/// transport has windows; MemoryError.
[[nodiscard]] std::shared_ptr<MemoryWindow> make_memory_window(
    std::shared_ptr<Communicator> ranks, std::size_t bytes,
    MemoryWindowKind kind = MemoryWindowKind::automatic);

}  // namespace d5
