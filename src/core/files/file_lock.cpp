// SPDX-License-Identifier: Apache-2.0
#include "core/files/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

FileLock::FileLock(const std::string& path, const Interrupt& interrupt) {
  while (!take(path)) {
    interrupt.check("waiting for '" + printable(path) + "'");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::optional<FileLock> FileLock::if_free(const std::string& path) {
  FileLock lock;
  if (!lock.take(path)) return std::nullopt;
  return lock;
}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

bool FileLock::take(const std::string& path) {
  const auto fail = [&] {
    return IoError(fmt::format("cannot lock '{}': {}", printable(path), std::strerror(errno)));
  };
  // A lock per open file: it also excludes other threads of the process.
  if (file_ < 0) file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) throw fail();
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  throw fail();
}

}  // namespace d5::detail
