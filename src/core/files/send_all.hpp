// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <string_view>

namespace d5::detail {

/// Sends all bytes; false if the peer has closed the socket.
inline bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace d5::detail
