// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/draft.hpp"

namespace d5 {

/// Which memory the forward run needs, and from when to when.
void plan_lifetimes(Draft& draft);

/// Once all lifetimes are known: lets kernels that may write where they read do so, gives every
/// block its place in the arena of its device, and every planned value its tensor. Throws:
/// MemoryError.
void lay_out_memory(Draft& draft);

/// Writes what was laid out into the plan, for who asks.
void record_memory(Draft& draft);

// Parts of both, for gradients.
/// A block for `desc` from `begin` on; none for strings, which no arena holds.
std::size_t request_block(Draft& draft, const TensorDesc& desc, std::size_t begin);
std::size_t request_scratch(Draft& draft, const Draft::Step& step, std::size_t time);
void keep_until(Draft& draft, std::size_t block, std::size_t time);
[[nodiscard]] Tensor tensor_at(const Draft& draft, std::size_t block, const TensorDesc& desc);
[[nodiscard]] std::span<std::byte> bytes_at(const Draft& draft, std::size_t block);

}  // namespace d5
