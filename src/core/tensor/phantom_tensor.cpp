// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/phantom_tensor.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "core/tensor/watched_phantoms.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMostPhantomBytes = std::size_t{1} << 38;  // addresses, not memory
constexpr std::size_t kPage = 4096;

char* phantom_mapping() {
  static char* const begin = [] {
    void* const address = mmap(nullptr, kMostPhantomBytes, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      throw MemoryError(
          fmt::format("phantom tensors: {} bytes of address space cannot be reserved: {}",
                      kMostPhantomBytes, std::strerror(errno)));
    }
    return static_cast<char*>(address);
  }();
  return begin;
}

std::atomic<bool> is_watched = false;

}  // namespace

Tensor phantom_tensor(const TensorDesc& desc) {
  if (desc.bytes() > kMostPhantomBytes) {
    throw MemoryError(fmt::format("a phantom tensor of {} has {} bytes; there can be {}",
                                  to_string(desc), desc.bytes(), kMostPhantomBytes));
  }
  static const std::shared_ptr<void> all(phantom_mapping(), [](void*) {});  // one storage
  return Tensor::borrow(desc, phantom_mapping(), all);
}

bool is_phantom(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  const auto* const at = static_cast<const char*>(tensor.raw());
  return at >= phantom_mapping() && at < phantom_mapping() + kMostPhantomBytes;
}

namespace detail {

WatchedPhantoms::WatchedPhantoms(std::size_t bytes) {
  if (is_watched.exchange(true)) return;
  bytes_ = std::min((bytes + kPage - 1) / kPage * kPage, kMostPhantomBytes);
  if (mprotect(phantom_mapping(), bytes_, PROT_READ | PROT_WRITE) == 0) {
    begin_ = phantom_mapping();
  } else {
    is_watched = false;
  }
}

WatchedPhantoms::~WatchedPhantoms() {
  if (!begin_) return;
  madvise(begin_, bytes_, MADV_DONTNEED);
  mprotect(begin_, bytes_, PROT_NONE);
  is_watched = false;
}

bool WatchedPhantoms::touched() const {
  if (!begin_) return false;
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;
  std::vector<unsigned char> pages(std::min(bytes_, kAtOnce) / kPage);
  for (std::size_t at = 0; at < bytes_; at += kAtOnce) {
    const std::size_t size = std::min(kAtOnce, bytes_ - at);
    if (mincore(begin_ + at, size, pages.data()) != 0) return false;
    const auto end = pages.begin() + std::ptrdiff_t(size / kPage);
    if (std::any_of(pages.begin(), end, [](unsigned char page) { return (page & 1) != 0; })) {
      return true;
    }
  }
  return false;
}

}  // namespace detail
}  // namespace d5
