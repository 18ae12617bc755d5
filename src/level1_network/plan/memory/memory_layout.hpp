// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Which memory the runs need, forward and back, and from when to when. Kernels that may write
/// where they read do so. May be called again, when other steps are `recomputed`.
void plan_lifetimes(Draft& draft);

/// Those blocks on one device that take room, until the last step at most.
[[nodiscard]] std::vector<MemoryBlock> blocks_on(const Draft& draft, Device device);

/// Gives every block its place in the arena of its device. Throws: MemoryError.
void assign_places(Draft& draft);

/// Takes that memory, and gives every planned value its tensor there. Throws: MemoryError.
void allocate_memory(Draft& draft);

/// Writes what was laid out into the plan, for who asks.
void record_memory(Draft& draft);

// Parts of these, for gradients.
/// A block for `desc` from `begin` on; none for strings, which no arena holds.
std::size_t request_block(Draft& draft, const TensorDesc& desc, std::size_t begin);
/// What the step writes, reads, keeps for backward and needs for itself when it runs at `now`.
void plan_lifetime(Draft& draft, Draft::Step& step, std::size_t now);
std::size_t request_scratch(Draft& draft, const Draft::Step& step, std::size_t time);
void keep_until(Draft& draft, std::size_t block, std::size_t time);
[[nodiscard]] Tensor tensor_at(const Draft& draft, std::size_t block, const TensorDesc& desc);
[[nodiscard]] std::span<std::byte> bytes_at(const Draft& draft, std::size_t block);

}  // namespace d5
