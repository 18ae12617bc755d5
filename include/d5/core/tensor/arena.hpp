// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// One block of device memory from which tensors are allocated. The block lives as long as any of
/// them.
///
/// Units: sizes and offsets in bytes; every tensor starts on a 64-byte line.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;
  /// `bytes` rounded up to the alignment.
  [[nodiscard]] static constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  Arena() = default;
  /// Allocates zero-filled memory. Touches all pages, so that no later access pays for page faults.
  /// Throws: MemoryError above `memory_budget()`, or if the device has too little memory.
  explicit Arena(std::size_t bytes, Device device = {});
  /// Uses existing memory: a one-dimensional tensor of bytes.
  explicit Arena(Tensor block) : block_(std::move(block)) {}

  [[nodiscard]] std::size_t bytes() const { return block_.bytes(); }
  /// A tensor at `offset`, on the arena's device regardless of `desc`.
  /// Throws: ShapeError past the end, TypeError for strings.
  [[nodiscard]] Tensor at(std::size_t offset, const TensorDesc& desc) const;
  /// The whole block as bytes.
  [[nodiscard]] const Tensor& block() const { return block_; }

 private:
  Tensor block_;
};

}  // namespace d5
