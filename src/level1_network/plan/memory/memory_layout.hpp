// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Computes the memory blocks of the runs, forward and backward, with their lifetimes. Kernels that
/// may write in place do so. It may be called again with other steps `recomputed`.
void plan_lifetimes(Draft& draft);

/// Blocks of non-zero size on one device; lifetimes end with the last step.
[[nodiscard]] std::vector<MemoryBlock> blocks_on(const Draft& draft, Device device);

/// Gives every block its place in the arena of its device. Throws: MemoryError.
void assign_places(Draft& draft);

/// Allocates the arenas, and makes the tensor of every planned value there. Throws: MemoryError.
void allocate_memory(Draft& draft);

/// Records the layout in the plan, for `planned_memory`.
void record_memory(Draft& draft);

// Helpers for gradients. Requests a block for `desc` from `begin` on; none for strings, which are
// not in arenas.
std::size_t request_block(Draft& draft, const TensorDesc& desc, std::size_t begin);
/// Blocks that the step writes, reads, keeps for backward and uses as scratch when it runs at
/// `now`.
void plan_lifetime(Draft& draft, Draft::Step& step, std::size_t now);
std::size_t request_scratch(Draft& draft, const Draft::Step& step, std::size_t time);
void keep_until(Draft& draft, std::size_t block, std::size_t time);
[[nodiscard]] Tensor tensor_at(const Draft& draft, std::size_t block, const TensorDesc& desc);
[[nodiscard]] std::span<std::byte> bytes_at(const Draft& draft, std::size_t block);

}  // namespace d5
