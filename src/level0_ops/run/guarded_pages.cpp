// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/run/guarded_pages.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"

namespace d5::detail {
namespace {

// Address space only: inaccessible pages take no memory.
constexpr std::size_t kForbidden = std::size_t{4} << 20;

}  // namespace

Tensor guarded_pages(std::size_t bytes) {
  const auto page = std::size_t(sysconf(_SC_PAGE_SIZE));
  if (bytes > memory_budget()) {
    throw MemoryError(
        fmt::format("{} bytes are above the memory budget of {}", bytes, memory_budget()));
  }
  const std::size_t usable = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  const std::size_t all = usable + 2 * kForbidden;
  void* begin = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) {
    throw MemoryError(fmt::format("the system lacks {} bytes of address space", all));
  }
  std::shared_ptr<void> owner(begin, [all](void* p) { munmap(p, all); });
  std::byte* data = static_cast<std::byte*>(begin) + kForbidden;
  if (mprotect(data, usable, PROT_READ | PROT_WRITE) != 0) {
    throw MemoryError(fmt::format("the system does not have {} bytes", usable));
  }
  return Tensor::borrow({.dtype = DType::uint8, .shape = {std::int64_t(usable)}}, data,
                        std::move(owner));
}

Tensor guarded_copy(const Tensor& tensor) {
  const bool is_plain = tensor.defined() && tensor.dtype() != DType::string &&
                        tensor.desc().layout == Layout::row_major && tensor.device() == Device{};
  if (!is_plain) return tensor;
  Tensor pages = guarded_pages(tensor.bytes());
  std::memset(pages.raw(), 0xFF, pages.bytes());
  Tensor copy = pages.view(pages.bytes() - Arena::aligned(tensor.bytes()), tensor.desc());
  copy.copy_from(tensor);
  return copy;
}

}  // namespace d5::detail
