// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/shared_pages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

SharedPages::SharedPages(const char* name, std::size_t bytes, Others others)
    : file_(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)), bytes_(bytes) {
  const auto refuse = [&] {
    throw IoError(
        fmt::format("there is no shared memory of {} bytes: {}", bytes, std::strerror(errno)));
  };
  if (file_.get() < 0 || ::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) refuse();
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) refuse();
  data_ = static_cast<std::byte*>(memory);
  // The present mapping stays writable; no later one is.
  const int writing = others == Others::read ? F_SEAL_FUTURE_WRITE : 0;
  if (::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | writing | F_SEAL_SEAL) != 0) {
    ::munmap(memory, bytes);
    refuse();
  }
}

SharedPages::~SharedPages() { ::munmap(data_, bytes_); }

}  // namespace d5::detail
