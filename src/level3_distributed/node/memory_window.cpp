// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/node/memory_window.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {

void MemoryWindow::put(const Tensor& data, int target, std::size_t offset) {
  check("put", data, target, offset);
  count("put", target, data.bytes(), 0);
  do_put(data, target, offset);
}

void MemoryWindow::get(Tensor& data, int target, std::size_t offset) {
  check("get", data, target, offset);
  count("get", target, 0, data.bytes());
  do_get(data, target, offset);
}

void MemoryWindow::accumulate(const Tensor& data, int target, std::size_t offset,
                              Reduction reduction) {
  check("accumulate", data, target, offset);
  count("accumulate", target, data.bytes(), 0);
  do_accumulate(data, target, offset, reduction);
}

std::int64_t MemoryWindow::fetch_and_add(int target, std::size_t offset, std::int64_t value) {
  check_word("fetch_and_add", target, offset);
  count("fetch_and_add", target, sizeof value, sizeof value);
  return do_fetch_and_add(target, offset, value);
}

std::int64_t MemoryWindow::compare_and_swap(int target, std::size_t offset, std::int64_t expected,
                                            std::int64_t desired) {
  check_word("compare_and_swap", target, offset);
  count("compare_and_swap", target, 2 * sizeof expected, sizeof expected);
  return do_compare_and_swap(target, offset, expected, desired);
}

MemoryWindow::Lock MemoryWindow::lock(int target, WindowLockKind kind) {
  check("lock", target, 0, 0);
  count("lock", target, 0, 0);
  return do_lock(target, kind);
}

void MemoryWindow::check(const char* call, int target, std::size_t offset,
                         std::size_t bytes) const {
  if (target < 0 || target >= ranks_->size()) {
    throw ValueError(fmt::format("rank {}: {} at rank {}, but the ranks are 0 to {}",
                                 ranks_->rank(), call, target, ranks_->size() - 1));
  }
  const std::size_t all = this->bytes(target);
  if (offset > all || bytes > all - offset) {
    throw ValueError(fmt::format("rank {}: {} of {} bytes at byte {} of rank {}, whose part has {}",
                                 ranks_->rank(), call, bytes, offset, target, all));
  }
}

void MemoryWindow::check(const char* call, const Tensor& data, int target,
                         std::size_t offset) const {
  if (!data.defined() || data.dtype() == DType::string) {
    throw TypeError(fmt::format("rank {}: {} of a tensor of type {}; only numbers can be sent",
                                ranks_->rank(), call, name_of(data.dtype())));
  }
  if (data.device().kind != DeviceKind::cpu || data.desc().layout != Layout::row_major) {
    throw Unsupported(fmt::format("rank {}: {} of {}; copy it to dense host memory first",
                                  ranks_->rank(), call, to_string(data.desc())));
  }
  check(call, target, offset, data.bytes());
  check_aligned(call, offset, size_of(data.dtype()));
}

void MemoryWindow::check_word(const char* call, int target, std::size_t offset) const {
  check(call, target, offset, sizeof(std::int64_t));
  check_aligned(call, offset, sizeof(std::int64_t));
}

void MemoryWindow::check_aligned(const char* call, std::size_t offset, std::size_t element) const {
  if (offset % element == 0) return;
  throw ValueError(fmt::format("rank {}: {} at byte {}, expected a multiple of {}", ranks_->rank(),
                               call, offset, element));
}

void MemoryWindow::count(const char* call, int target, std::size_t sent, std::size_t received) {
  const bool own = target == ranks_->rank();
  ranks_->note_traffic(call, own ? 0 : static_cast<std::int64_t>(sent),
                       own ? 0 : static_cast<std::int64_t>(received));
}

}  // namespace d5
