// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/run/memory_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"
#include "level0_ops/run/guarded_pages.hpp"

namespace d5::detail {
namespace {

// Size in bytes, a multiple of every alignment. Writes to the margin are reported, accesses beyond
// crash.
constexpr std::size_t kMargin = 256;
constexpr std::byte kPattern{0xA5};

std::size_t checksum(const Tensor& tensor) {
  return std::hash<std::string_view>{}({static_cast<const char*>(tensor.raw()), tensor.bytes()});
}

bool untouched(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte byte) { return byte == kPattern; });
}

}  // namespace

Tensor MemoryGuard::allocate(const TensorDesc& desc, std::string what) {
  if (desc.dtype == DType::string) return Tensor::empty(desc);
  const std::size_t bytes = Arena::aligned(desc.bytes());
  Tensor whole = guarded_pages(bytes + 2 * kMargin);
  std::memset(whole.raw(), int(kPattern), whole.bytes());
  Tensor planned = whole.view(whole.bytes() - kMargin - bytes, desc);
  blocks_.push_back({whole, planned, std::move(what)});
  return planned;
}

void MemoryGuard::watch(const Tensor& tensor, std::string what) {
  if (tensor.dtype() == DType::string) return;
  watched_.push_back({tensor, checksum(tensor), std::move(what)});
}

void MemoryGuard::check(const std::string& who) {
  for (const Block& block : blocks_) {
    const auto* begin = static_cast<const std::byte*>(block.whole.raw());
    const auto* planned = static_cast<const std::byte*>(block.planned.raw());
    if (untouched(begin, planned) &&
        untouched(planned + block.planned.bytes(), begin + block.whole.bytes())) {
      continue;
    }
    throw ContractError(
        fmt::format("{} wrote past {}, which was planned with {} bytes; a kernel must request all "
                    "memory while planning",
                    who, block.what, block.planned.bytes()));
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
