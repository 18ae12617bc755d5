// SPDX-License-Identifier: Apache-2.0
// Windows in shared memory, and the choice of a window's kind.
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <vector>

#include "core/process/launcher.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"
#include "d5/level3_distributed/node/memory_window.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"
#include "level3_distributed/communicator/transport/loaded_part.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5 {
namespace {

/// A mutex in node memory that detects the death of its holder; from then on every `lock` fails.
class RobustMutex {
 public:
  RobustMutex() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  RobustMutex(const RobustMutex&) = delete;
  RobustMutex& operator=(const RobustMutex&) = delete;

  /// Returns false, without the lock, if a holder died.
  [[nodiscard]] bool lock() {
    const int code = pthread_mutex_lock(&mutex_);
    if (code == 0) return true;
    // Unlocking without declaring it consistent makes all later locks fail.
    if (code == EOWNERDEAD) pthread_mutex_unlock(&mutex_);
    return false;
  }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

constexpr int kNobody = -1;

/// The lock of one rank's part: one mutex per rank. A shared lock takes the rank's own mutex; an
/// exclusive one takes all, in rank order.
struct Guard {
  std::atomic<int> exclusive_holder = kNobody, accumulating = kNobody;
  RobustMutex accumulate = {};
  // followed by a mutex for each rank
  [[nodiscard]] RobustMutex& of(int rank) { return reinterpret_cast<RobustMutex*>(this + 1)[rank]; }
  static std::size_t bytes(int ranks) {
    return Arena::aligned(sizeof(Guard) + static_cast<std::size_t>(ranks) * sizeof(RobustMutex));
  }
};

/// A window in shared memory: all guards, then all parts.
class NodeMemoryWindow final : public MemoryWindow {
 public:
  NodeMemoryWindow(std::shared_ptr<Communicator> all, std::size_t bytes)
      : MemoryWindow(std::move(all)), rank_(ranks().rank()), size_(ranks().size()) {
    const Tensor mine = Tensor::scalar(static_cast<std::int64_t>(bytes));
    Tensor sizes = Tensor::empty(DType::int64, {size_});
    ranks().all_gather(mine, sizes);
    std::size_t begin = Guard::bytes(size_) * static_cast<std::size_t>(size_);
    for (const std::int64_t size : sizes.span<std::int64_t>()) {
      sizes_.push_back(static_cast<std::size_t>(size));
      begins_.push_back(begin);
      begin += Arena::aligned(sizes_.back());
    }
    memory_ = NodeMemory::make(ranks(), begin);
    new (&guard(rank_)) Guard;
    for (int r = 0; r < size_; ++r) new (&guard(rank_).of(r)) RobustMutex;
    ranks().barrier();
  }

  void flush(int) override { std::atomic_thread_fence(std::memory_order_seq_cst); }
  std::size_t bytes(int rank) const override { return sizes_.at(static_cast<std::size_t>(rank)); }
  Tensor local() override {
    return memory_->at(begins_[static_cast<std::size_t>(rank_)],
                       {DType::uint8, {static_cast<std::int64_t>(bytes(rank_))}});
  }

 protected:
  void do_put(const Tensor& data, int target, std::size_t offset) override {
    if (data.bytes() > 0) std::memcpy(place(target, offset), data.raw(), data.bytes());
  }
  void do_get(Tensor& data, int target, std::size_t offset) override {
    if (data.bytes() > 0) std::memcpy(data.raw(), place(target, offset), data.bytes());
  }
  void do_accumulate(const Tensor& data, int target, std::size_t offset,
                     Reduction reduction) override {
    Guard& of = guard(target);
    if (!of.accumulate.lock()) throw died(of.accumulating, target, "while it accumulated");
    const std::lock_guard held(of.accumulate, std::adopt_lock);
    of.accumulating = rank_;
    Tensor into = Tensor::borrow(data.desc(), place(target, offset), memory_);
    ranks().reduce_local(into, data, reduction);
  }
  std::int64_t do_fetch_and_add(int target, std::size_t offset, std::int64_t value) override {
    return word(target, offset).fetch_add(value);
  }
  std::int64_t do_compare_and_swap(int target, std::size_t offset, std::int64_t expected,
                                   std::int64_t desired) override {
    word(target, offset).compare_exchange_strong(expected, desired);
    return expected;
  }

  Lock do_lock(int target, WindowLockKind kind) override {
    Guard& of = guard(target);
    if (kind == WindowLockKind::shared) {
      take(target, rank_, rank_);
      return Lock([&of, rank = rank_] { of.of(rank).unlock(); });
    }
    for (int r = 0; r < size_; ++r) take(target, r, 0);
    of.exclusive_holder = rank_;
    return Lock([&of, size = size_] {
      of.exclusive_holder = kNobody;
      for (int r = 0; r < size; ++r) of.of(r).unlock();
    });
  }

 private:
  /// Takes one mutex of a part; if a holder died, releases those from `held` on.
  void take(int target, int rank, int held) {
    Guard& of = guard(target);
    if (of.of(rank).lock()) return;
    for (int r = held; r < rank; ++r) of.of(r).unlock();
    const int writer = of.exclusive_holder;
    throw died(writer == kNobody ? rank : writer, target, "with its lock");
  }

  CommunicationError died(int holder, int target, const char* when) const {
    return CommunicationError(fmt::format(
        "rank {}: the window's part of rank {}: rank {} died {}, and may have left it half "
        "written; create a new window",
        rank_, target, holder, when));
  }

  Guard& guard(int target) const {
    return *reinterpret_cast<Guard*>(memory_->data() +
                                     Guard::bytes(size_) * static_cast<std::size_t>(target));
  }
  std::byte* place(int target, std::size_t offset) const {
    return memory_->data() + begins_[static_cast<std::size_t>(target)] + offset;
  }
  std::atomic_ref<std::int64_t> word(int target, std::size_t offset) const {
    return std::atomic_ref(*reinterpret_cast<std::int64_t*>(place(target, offset)));
  }

  int rank_, size_;
  std::vector<std::size_t> sizes_, begins_;
  std::shared_ptr<NodeMemory> memory_;
};

bool share_a_node(Communicator& ranks) {
  const auto nodes = detail::gather_texts(ranks, node_identity(ranks));
  return std::ranges::all_of(nodes, [&](const auto& node) { return node == nodes.front(); });
}

}  // namespace

std::shared_ptr<MemoryWindow> make_memory_window(std::shared_ptr<Communicator> ranks,
                                                 std::size_t bytes, MemoryWindowKind kind) {
  if (detail::nodes_of_strands()) {
    throw Unsupported(
        "a memory window: simulated ranks do not support it, because one-sided accesses have no "
        "simulated time");
  }
  if (kind == MemoryWindowKind::automatic) {
    kind = share_a_node(*ranks) ? MemoryWindowKind::node : MemoryWindowKind::library;
  }
  if (kind == MemoryWindowKind::node) {
    return std::make_shared<NodeMemoryWindow>(std::move(ranks), bytes);
  }
  if (detail::launched_ranks() == 0) {
    throw Unsupported("a library's window: no launcher started this process; ask for `node`");
  }
  return detail::loaded_part<LibraryWindows>("windows").make(std::move(ranks), bytes);
}

}  // namespace d5
