// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>

namespace d5::torch {

/// Identifies a result's allocation among those of the same size: oneDNN makes others before it for
/// its own layouts. Learned over the calls of one kernel. A result that is found in none of them
/// gets the first one from then on.
class ResultTurn {
 public:
  /// Number of allocations to skip.
  [[nodiscard]] int passed_over() const { return passed_over_; }
  /// Reports that the result was elsewhere; the offered block was `taken` by another, or by none.
  void missed(bool taken) {
    if (tries_left_ == 0) return;
    if (taken) {
      ++passed_over_;
    } else {
      passed_over_ = 0;
      --tries_left_;  // a kernel's first call takes more than the others
    }
  }

 private:
  int passed_over_ = 0, tries_left_ = 3;
};

/// Makes torch functions without an out variant (convolution, its gradients) write results to d5's
/// memory: while an object lives, an allocation on this thread with exactly the size of an offered
/// block, the first one or the one of its turn, gets that block instead of new memory.
///
///     ResultMemory memory;
///     memory.offer(y);
///     memory.deliver({at::convolution(...)});   // nothing is copied if it already lies in y
///
/// Whether a result landed there is checked; one that did not is copied.
class ResultMemory {
 public:
  static constexpr int kMost = 8;

  ResultMemory();
  ~ResultMemory();
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;

  /// `target` is dense, and its memory is not read during the call. An undefined one takes a place
  /// without an offer. `turn` belongs to the result, and must outlive this.
  void offer(const at::Tensor& target, ResultTurn* turn = nullptr);
  /// Stops offering, then copies `results[i]` to the `i`th target if needed. Undefined pairs are
  /// skipped.
  void deliver(at::ArrayRef<at::Tensor> results);

  /// Whether torch holds a tensor in an offered block.
  [[nodiscard]] static bool is_lent(const void* block);

  /// Installs the allocator with offers before torch's own; called once, when the plug-in is
  /// loaded.
  static void install();

 private:
  friend class OfferingAllocator;
  [[nodiscard]] void* take(std::size_t bytes);
  [[nodiscard]] bool lies_in_offer(const at::Tensor& tensor) const;

  std::array<at::Tensor, kMost> targets_;
  std::array<std::size_t, kMost> offered_bytes_{};  // 0: nothing on offer
  std::array<ResultTurn*, kMost> turns_{};
  std::array<int, kMost> passes_{};  // allocations yet to be passed over
  int count_ = 0;
  ResultMemory* outer_;
};

}  // namespace d5::torch
