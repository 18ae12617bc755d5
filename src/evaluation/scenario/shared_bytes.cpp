// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/shared_bytes.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace d5::detail {
namespace {

[[noreturn]] void fail_with(const char* what) {
  throw IoError(fmt::format("records of a process of its own: {}: {}", what, std::strerror(errno)));
}

}  // namespace

SharedBytes::SharedBytes() : file_(memfd_create("d5 records", MFD_CLOEXEC)) {
  if (file_ < 0) fail_with("no file in memory");
}

SharedBytes::~SharedBytes() { close(file_); }

void SharedBytes::write(std::string_view bytes) {
  if (ftruncate(file_, 0) != 0) fail_with("they cannot be forgotten");
  for (off_t at = 0; !bytes.empty();) {
    const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with("they do not fit into memory");
    at += count;
    bytes.remove_prefix(std::size_t(count));
  }
}

std::string SharedBytes::read() const {
  struct stat status{};
  if (fstat(file_, &status) != 0) fail_with("they cannot be read");
  std::string bytes(std::size_t(status.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = pread(file_, bytes.data() + at, bytes.size() - at, off_t(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_with("they cannot be read");
    at += std::size_t(count);
  }
  return bytes;
}

}  // namespace d5::detail
