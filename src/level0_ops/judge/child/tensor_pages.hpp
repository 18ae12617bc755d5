// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "level0_ops/judge/protocol.hpp"

namespace d5::judged {

/// The pages of a tensor at its drawn address, between inaccessible ones.
class TensorPages {
 public:
  enum class Access { read, write };

  /// Maps the pages from the descriptor; `data()` is null if the system refuses.
  TensorPages(const Placed& placed, int descriptor, Access access)
      : bytes_(placed.page_bytes + 2 * kGuardBytes) {
    void* whole = ::mmap(reinterpret_cast<void*>(placed.address), bytes_, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED) return;
    whole_ = static_cast<std::byte*>(whole);
    // Populated, so that the kernel's page faults are not timed.
    void* inner = ::mmap(whole_ + kGuardBytes, placed.page_bytes,
                         access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED | MAP_POPULATE, descriptor,
                         static_cast<off_t>(placed.page_offset));
    if (inner == MAP_FAILED) return;
    data_ = static_cast<std::byte*>(inner) + placed.lead_bytes;
  }
  ~TensorPages() {
    if (whole_) ::munmap(whole_, bytes_);
  }
  TensorPages(TensorPages&& other) noexcept
      : whole_(other.whole_), data_(other.data_), bytes_(other.bytes_) {
    other.whole_ = nullptr;
  }
  TensorPages(const TensorPages&) = delete;
  TensorPages& operator=(const TensorPages&) = delete;
  TensorPages& operator=(TensorPages&&) = delete;

  [[nodiscard]] void* data() const { return data_; }

 private:
  std::byte *whole_ = nullptr, *data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace d5::judged
