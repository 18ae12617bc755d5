// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/memory_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMargin = 256;  // bytes; a multiple of every alignment
constexpr std::byte kPattern{0xA5};

std::size_t checksum(const Tensor& tensor) {
  return std::hash<std::string_view>{}({static_cast<const char*>(tensor.raw()), tensor.bytes()});
}

bool untouched(const std::byte* begin, std::size_t count) {
  return std::all_of(begin, begin + count, [](std::byte byte) { return byte == kPattern; });
}

}  // namespace

Tensor MemoryGuard::allocate(const TensorDesc& desc, std::string what) {
  if (desc.dtype == DType::string) return Tensor::empty(desc);
  const std::size_t bytes = desc.bytes();
  Tensor whole = Tensor::empty(DType::uint8, {std::int64_t(bytes + 2 * kMargin)});
  std::memset(whole.raw(), int(kPattern), whole.bytes());
  blocks_.push_back({whole, bytes, std::move(what)});
  return whole.view(kMargin, desc);
}

void MemoryGuard::watch(const Tensor& tensor, std::string what) {
  if (tensor.dtype() == DType::string) return;
  watched_.push_back({tensor, checksum(tensor), std::move(what)});
}

void MemoryGuard::check(const std::string& who) {
  for (const Block& block : blocks_) {
    const auto* begin = static_cast<const std::byte*>(block.whole.raw());
    if (untouched(begin, kMargin) && untouched(begin + kMargin + block.bytes, kMargin)) continue;
    throw ContractError(fmt::format(
        "{} wrote past {}, which was planned with {} bytes; a kernel writes what it was planned "
        "for, or asks for more while planning",
        who, block.what, block.bytes));
  }
  for (const Watched& watched : std::exchange(watched_, {})) {
    if (checksum(watched.tensor) == watched.checksum) continue;
    throw ContractError(
        fmt::format("{} changed {}, which it may only read; a kernel writes into outputs and "
                    "scratch memory (PlanContext::request_scratch)",
                    who, watched.what));
  }
}

}  // namespace d5::detail
