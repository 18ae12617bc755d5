// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::testing {

/// A connection to a port of this machine that sends and reads any bytes, even those that no client
/// would send. Throws: IoError if it is refused, or waits too long; several threads may have
/// clients, but only one may use Catch's assertions.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw IoError("a client found no server");
    }
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False: the other side ended the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(std::size_t(count));
    }
    return true;
  }

  /// All that comes until `end` is part of it, or the other side is done.
  std::string read_until(std::string_view end) {
    constexpr int kMostMilliseconds = 20000;
    while (end.empty() || read_.find(end) == std::string::npos) {
      pollfd watched{socket_, POLLIN, 0};
      if (::poll(&watched, 1, kMostMilliseconds) != 1) throw IoError("a client got no answer");
      char room[4096];
      const auto count = ::recv(socket_, room, sizeof room, 0);
      if (count <= 0) break;
      read_.append(room, std::size_t(count));
    }
    return std::exchange(read_, {});
  }
  std::string read_all() { return read_until(""); }
  /// Whether anything comes within that time.
  bool has_answer(int milliseconds) {
    pollfd watched{socket_, POLLIN, 0};
    return ::poll(&watched, 1, milliseconds) == 1;
  }

 private:
  int socket_;
  std::string read_;
};

/// Sends one request, and returns all that comes back.
inline std::string raw_answer(int port, std::string_view request) {
  RawClient client(port);
  client.send(request);
  return client.read_all();
}

}  // namespace d5::testing
