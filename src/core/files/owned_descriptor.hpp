// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// An owned file descriptor, closed by the destructor; -1: none.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int descriptor = -1) : descriptor_(descriptor) {}
  ~OwnedDescriptor() { close(); }
  OwnedDescriptor(OwnedDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    if (this != &other) close();
    descriptor_ = std::exchange(other.descriptor_, descriptor_);
    return *this;
  }
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

/// Two connected descriptors, which started programs do not inherit.
struct DescriptorPair {
  OwnedDescriptor here, there;
};

/// A pipe from `there` to `here`, whose reading does not block. Throws: IoError.
[[nodiscard]] inline DescriptorPair make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw IoError(fmt::format("no pipe: {}", std::strerror(errno)));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1])};
}

/// Two connected sockets of this `type` (SOCK_STREAM, SOCK_SEQPACKET). Throws: IoError.
[[nodiscard]] inline DescriptorPair make_socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) {
    throw IoError(fmt::format("no socket: {}", std::strerror(errno)));
  }
  return {OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1])};
}

/// Appends the bytes that can be read without waiting; closes the descriptor at the end of the
/// stream.
inline void take_available(OwnedDescriptor& from, std::string& bytes) {
  char some[1 << 14];
  while (from.get() >= 0) {
    const ssize_t count = ::read(from.get(), some, sizeof some);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    if (count == 0) return from.close();
    bytes.append(some, std::size_t(count));
  }
}

}  // namespace d5::detail
