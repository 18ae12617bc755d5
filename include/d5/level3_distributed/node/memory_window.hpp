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

/// Who else may hold it: other shared ones, or nobody.
enum class WindowLockKind { shared, exclusive };

/// Memory of each rank that all others read and write without its help.
///
///     auto window = make_memory_window(world(), 8);
///     const auto ticket = window->fetch_and_add(0, 0, 1);          // a counter at rank 0
///     const auto lock = window->lock(2, WindowLockKind::exclusive);
///     window->put(gradient, 2, 0);
///
/// What a rank put is there for whoever synchronises with it afterwards: by the same lock, by
/// `flush` and then a message or a barrier. `accumulate` is atomic among accumulates, element by
/// element; `fetch_and_add` and `compare_and_swap` are among each other. Other accesses of one
/// place at one time need a lock.
///
/// Units: offsets in bytes from the begin of the target's part. Counted in the communicator's
/// `Traffic` by name; what a rank does to its own part counts as a call without bytes.
/// Throws: ValueError for ranks and offsets that are none, TypeError; CommunicationError.
/// Thread safety: as the communicator's; a lock is given back by the thread that took it.
class MemoryWindow {
 public:
  /// Held until its end. The window outlives it.
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
  /// target ⊕ data, where it is.
  void accumulate(const Tensor& data, int target, std::size_t offset,
                  Reduction reduction = Reduction::sum);
  /// Of an int64 at a multiple of 8: its value before.
  std::int64_t fetch_and_add(int target, std::size_t offset, std::int64_t value);
  /// The value before; it was replaced where that is `expected`.
  std::int64_t compare_and_swap(int target, std::size_t offset, std::int64_t expected,
                                std::int64_t desired);

  /// Waits for the lock of a rank's part; nobody who does not ask for it is kept out.
  /// Throws: CommunicationError where a rank died that held it, from then on: what it was writing
  /// may be half there.
  Lock lock(int target, WindowLockKind kind);
  /// What this rank put into the part is there when it returns.
  virtual void flush(int target) = 0;

  /// The part of `rank`.
  [[nodiscard]] virtual std::size_t bytes(int rank) const = 0;
  /// This rank's part, as bytes.
  [[nodiscard]] virtual Tensor local() = 0;

 protected:
  // What an implementation does; ranks, sizes and types were checked.
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

/// Windows of a transport's library: a part that a framework may bring beside its `Transport`.
class LibraryWindows {
 public:
  virtual ~LibraryWindows() = default;
  /// As `make_memory_window`.
  [[nodiscard]] virtual std::shared_ptr<MemoryWindow> make(std::shared_ptr<Communicator> ranks,
                                                           std::size_t bytes) = 0;
};

/// Where a window's parts are: in memory that the ranks of a node share, or wherever the
/// transport's library puts them, which knows ranks of several nodes. `automatic` shares what can
/// be shared. A lock whose holder died is told by `node` alone; `library` waits for it, but no
/// longer than `Communicator::longest_wait`, as every wait for a lock there.
///
/// A `library` window's memory is freed when all ranks have let go of it and of its `local`
/// tensors, and the same ranks make the next one, or leave.
enum class MemoryWindowKind { automatic, node, library };

/// A window to which this rank brings `bytes` zeros; ranks may bring different numbers.
/// A collective. Throws: Unsupported where `node` is asked for and ranks are on several nodes, or
/// `library` and no transport has windows; MemoryError.
[[nodiscard]] std::shared_ptr<MemoryWindow> make_memory_window(
    std::shared_ptr<Communicator> ranks, std::size_t bytes,
    MemoryWindowKind kind = MemoryWindowKind::automatic);

}  // namespace d5
