// SPDX-License-Identifier: Apache-2.0
#include "result_memory.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5::torch {
namespace {

thread_local ResultMemory* current = nullptr;

/// Blocks of d5 that torch currently holds. Torch frees by address only (oneDNN through
/// raw_allocate), so every address must be looked up; usually the table is empty.
class ServedBlocks {
 public:
  void add(void* block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(block);
    ++count_;
  }
  bool remove(void* block) {
    if (count_ == 0) return false;
    const std::lock_guard lock(mutex_);
    const auto place = std::find(blocks_.begin(), blocks_.end(), block);
    if (place == blocks_.end()) return false;
    blocks_.erase(place);
    --count_;
    return true;
  }
  bool contains(const void* block) {
    if (count_ == 0) return false;
    const std::lock_guard lock(mutex_);
    return std::ranges::find(blocks_, block) != blocks_.end();
  }

 private:
  std::mutex mutex_;
  std::vector<void*> blocks_;
  std::atomic<int> count_ = 0;
};
ServedBlocks& served() {
  static auto* const blocks = new ServedBlocks;  // outlives all of torch's tensors
  return *blocks;
}

c10::Allocator* torch_allocator = nullptr;
std::atomic<std::int64_t> held_bytes = 0;  ///< in torch's own blocks

void* take_own(std::size_t bytes) {
  const auto held = std::size_t(std::max<std::int64_t>(held_bytes, 0));
  if (bytes > memory_budget() || held > memory_budget() - bytes) {
    throw MemoryError("torch takes " + std::to_string(bytes) + " bytes, with " +
                      std::to_string(held) + " held already, above the memory budget of " +
                      std::to_string(memory_budget()) +
                      "; give smaller inputs, or raise it (set_memory_budget)");
  }
  void* block = torch_allocator->raw_allocate(bytes);
  if (block) held_bytes += std::int64_t(malloc_usable_size(block));
  return block;
}

void release(void* block) {
  if (served().remove(block)) return;
  if (block) held_bytes -= std::int64_t(malloc_usable_size(block));
  torch_allocator->raw_deallocate(block);
}

}  // namespace

/// Torch's allocator, extended by offers and by d5's memory budget.
class OfferingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* block = current ? current->take(bytes) : nullptr;
    if (block) {
      served().add(block);
    } else {
      block = take_own(bytes);
    }
    return {block, block, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

void ResultMemory::install() {
  torch_allocator = c10::GetCPUAllocator();
  static auto* const allocator = new OfferingAllocator;  // outlives all of torch's tensors
  constexpr std::uint8_t kAboveDefault = 100;
  c10::SetCPUAllocator(allocator, kAboveDefault);
}

ResultMemory::ResultMemory() : outer_(std::exchange(current, this)) {}

ResultMemory::~ResultMemory() {
  if (current == this) current = outer_;
}

void ResultMemory::offer(const at::Tensor& target, ResultTurn* turn) {
  if (count_ == kMost) throw std::logic_error("ResultMemory: too many targets");
  targets_[count_] = target;
  // The allocator is the host's.
  offered_bytes_[count_] = target.defined() && target.is_cpu() ? target.nbytes() : 0;
  turns_[count_] = turn;
  passes_[count_] = turn ? turn->passed_over() : 0;
  ++count_;
}

void* ResultMemory::take(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  for (int i = 0; i < count_; ++i) {
    if (offered_bytes_[i] == bytes && passes_[i]-- <= 0) {
      offered_bytes_[i] = 0;
      return targets_[i].data_ptr();
    }
  }
  return nullptr;
}

bool ResultMemory::lies_in_offer(const at::Tensor& tensor) const {
  for (int i = 0; i < count_; ++i) {
    if (targets_[i].defined() && tensor.storage().data() == targets_[i].data_ptr()) return true;
  }
  return false;
}

bool ResultMemory::is_lent(const void* block) { return served().contains(block); }

void ResultMemory::deliver(at::ArrayRef<at::Tensor> results) {
  current = outer_;
  std::array<at::Tensor, kMost> moved;
  const auto in_place = [&](int i) {
    return results[i].data_ptr() == targets_[i].data_ptr() && results[i].is_contiguous() &&
           results[i].scalar_type() == targets_[i].scalar_type();
  };
  const int count = std::min<int>(count_, int(results.size()));
  // A result in another's block must leave it before that block is written.
  for (int i = 0; i < count; ++i) {
    if (results[i].defined() && targets_[i].defined() && !in_place(i)) {
      moved[i] = lies_in_offer(results[i]) ? results[i].clone() : results[i];
      if (turns_[i]) turns_[i]->missed(offered_bytes_[i] == 0);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (moved[i].defined()) targets_[i].copy_(moved[i]);
  }
}

}  // namespace d5::torch
