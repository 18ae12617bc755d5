// SPDX-License-Identifier: Apache-2.0
#include "mpi_window.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"
#include "mpi_reduction.hpp"
#include "mpi_runtime.hpp"
#include "window_memory.hpp"

namespace d5::mpi {
namespace {

// Words before each part.
constexpr std::size_t kLockWord = 0, kAccumulateWord = 8, kPart = 64;
/// An exclusive lock sets a lock's word to this times the rank, counted from 1; a shared one adds
/// 1.
constexpr std::int64_t kExclusive = std::int64_t{1} << 32, kFree = 0;
/// MPI counts in int.
constexpr std::size_t kLargestMessage = std::size_t{1} << 30;

class MpiWindow final : public MemoryWindow {
 public:
  MpiWindow(std::shared_ptr<Communicator> all, std::size_t bytes)
      : MemoryWindow(std::move(all)), rank_(ranks().rank()) {
    Tensor sizes = Tensor::empty(DType::int64, {ranks().size()});
    ranks().all_gather(Tensor::scalar(static_cast<std::int64_t>(bytes)), sizes);
    for (const std::int64_t size : sizes.span<std::int64_t>()) {
      sizes_.push_back(static_cast<std::size_t>(size));
    }
    memory_ = WindowMemory::make(ranks(), kPart + bytes);
    window_ = memory_->window();
  }

  void flush(int target) override { check(MPI_Win_flush(target, window_), "flush"); }
  std::size_t bytes(int rank) const override { return sizes_.at(static_cast<std::size_t>(rank)); }
  Tensor local() override {
    check(MPI_Win_sync(window_), "local");
    return Tensor::borrow({DType::uint8, {static_cast<std::int64_t>(bytes(rank_))}},
                          memory_->data() + kPart, memory_);
  }

 protected:
  void do_put(const Tensor& data, int target, std::size_t offset) override {
    in_pieces(data.bytes(), [&](std::size_t begin, int count) {
      check(MPI_Put(static_cast<const std::byte*>(data.raw()) + begin, count, MPI_BYTE, target,
                    place(offset + begin), count, MPI_BYTE, window_),
            "put");
    });
    check(MPI_Win_flush_local(target, window_), "put");  // the data is the caller's again
  }
  void do_get(Tensor& data, int target, std::size_t offset) override {
    in_pieces(data.bytes(), [&](std::size_t begin, int count) {
      check(MPI_Get(static_cast<std::byte*>(data.raw()) + begin, count, MPI_BYTE, target,
                    place(offset + begin), count, MPI_BYTE, window_),
            "get");
    });
    flush(target);
  }
  void do_accumulate(const Tensor& data, int target, std::size_t offset,
                     Reduction reduction) override {
    reduce_memory(data.dtype(), nullptr, nullptr, 0, reduction);  // refuses non-numeric types
    if (data.dtype() == DType::float16 || data.dtype() == DType::bfloat16) {
      return accumulate_here(data, target, offset, reduction);
    }
    const auto [type, op] = mpi_reduction(data.dtype(), reduction);
    const std::size_t size = size_of(data.dtype());
    in_pieces(data.bytes() / size, [&, type = type, op = op](std::size_t begin, int count) {
      check(MPI_Accumulate(static_cast<const std::byte*>(data.raw()) + begin * size, count, type,
                           target, place(offset + begin * size), count, type, op, window_),
            "accumulate");
    });
    flush(target);
  }
  std::int64_t do_fetch_and_add(int target, std::size_t offset, std::int64_t value) override {
    return add(target, place(offset), value);
  }
  std::int64_t do_compare_and_swap(int target, std::size_t offset, std::int64_t expected,
                                   std::int64_t desired) override {
    return swap(target, place(offset), expected, desired);
  }

  Lock do_lock(int target, WindowLockKind kind) override {
    const bool shared = kind == WindowLockKind::shared;
    const std::int64_t mine = shared ? 1 : (rank_ + 1) * kExclusive;
    wait_for_lock(target, [&] {
      if (!shared) return swap(target, kLockWord, kFree, mine);
      const std::int64_t before = add(target, kLockWord, mine);
      if (before < kExclusive) return kFree;
      add(target, kLockWord, -mine);
      return before;
    });
    return unlocking(target, kLockWord, mine);
  }

 private:
  /// MPI accumulates only with predefined operations.
  void accumulate_here(const Tensor& data, int target, std::size_t offset, Reduction reduction) {
    const std::int64_t mine = (rank_ + 1) * kExclusive;
    wait_for_lock(target, [&] { return swap(target, kAccumulateWord, kFree, mine); });
    const Lock held = unlocking(target, kAccumulateWord, mine);
    Tensor sum = Tensor::empty(data.dtype(), data.shape());
    do_get(sum, target, offset);
    ranks().reduce_local(sum, data, reduction);
    do_put(sum, target, offset);
  }

  /// Completes puts under the lock before it is released.
  Lock unlocking(int target, MPI_Aint word, std::int64_t value) {
    return Lock([this, target, word, value] {
      if (!running()) return;
      MPI_Win_flush(target, window_);
      const std::int64_t less = -value;
      std::int64_t before = 0;
      MPI_Fetch_and_op(&less, &before, MPI_INT64_T, target, word, MPI_SUM, window_);
      MPI_Win_flush(target, window_);
    });
  }

  /// `ask()` returns `kFree` when the lock is taken, otherwise the word that prevents it.
  template <class Ask>
  void wait_for_lock(int target, const Ask& ask) {
    constexpr std::chrono::microseconds kLongest(1000);  // little beside a message under contention
    const auto begin = std::chrono::steady_clock::now();
    auto pause = std::chrono::microseconds(1);
    for (std::int64_t word; (word = ask()) != kFree; pause = std::min(2 * pause, kLongest)) {
      const auto longest = ranks().longest_wait();
      if (longest.count() > 0 && std::chrono::steady_clock::now() - begin > longest) {
        throw CommunicationError(
            fmt::format("rank {}: cannot lock rank {}'s part of a window within {} s; {}", rank_,
                        target, std::chrono::duration<double>(longest).count(), holder(word)));
      }
      std::this_thread::sleep_for(pause);
    }
  }
  static std::string holder(std::int64_t word) {
    if (word < kExclusive) return fmt::format("{} ranks share it", word);
    return fmt::format("rank {} holds it", word / kExclusive - 1);
  }

  std::int64_t add(int target, MPI_Aint at, std::int64_t value) {
    std::int64_t before = 0;
    check(MPI_Fetch_and_op(&value, &before, MPI_INT64_T, target, at, MPI_SUM, window_),
          "fetch_and_add");
    flush(target);
    return before;
  }
  std::int64_t swap(int target, MPI_Aint at, std::int64_t expected, std::int64_t desired) {
    std::int64_t before = 0;
    check(MPI_Compare_and_swap(&desired, &expected, &before, MPI_INT64_T, target, at, window_),
          "compare_and_swap");
    flush(target);
    return before;
  }

  static MPI_Aint place(std::size_t offset) { return static_cast<MPI_Aint>(kPart + offset); }
  template <class F>
  static void in_pieces(std::size_t count, const F& piece) {
    for (std::size_t begin = 0; begin < count; begin += kLargestMessage) {
      piece(begin, static_cast<int>(std::min(count - begin, kLargestMessage)));
    }
  }

  void check(int code, const char* call) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationError(fmt::format("rank {}: {} of a window failed: {}", rank_, call,
                                         std::string_view(text, static_cast<std::size_t>(length))));
  }

  int rank_;
  std::vector<std::size_t> sizes_;
  std::shared_ptr<WindowMemory> memory_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

std::shared_ptr<MemoryWindow> MpiWindows::make(std::shared_ptr<Communicator> ranks,
                                               std::size_t bytes) {
  expect_running("make_memory_window");
  return std::make_shared<MpiWindow>(std::move(ranks), bytes);
}

}  // namespace d5::mpi
