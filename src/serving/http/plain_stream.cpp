// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "d5/core/clocks/clock.hpp"
#include "serving/http/byte_stream.hpp"

namespace d5::detail {
namespace {

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(int socket) : socket_(socket) {}

  std::size_t read(std::span<char> room, double deadline) override {
    for (;;) {
      const auto count = ::recv(socket_, room.data(), room.size(), 0);
      if (count >= 0) return std::size_t(count);
      if (!would_block() || !wait_for(socket_, POLLIN, deadline)) return 0;
    }
  }

  bool write(std::string_view bytes, double seconds) override {
    while (!bytes.empty()) {
      const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count >= 0) {
        bytes.remove_prefix(std::size_t(count));
      } else if (!would_block() || !wait_for(socket_, POLLOUT, now_seconds() + seconds)) {
        return false;
      }
    }
    return true;
  }

  void end_writing() override { ::shutdown(socket_, SHUT_WR); }

  bool is_gone() override {
    char byte = 0;
    const auto count = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && !would_block());
  }

 private:
  int socket_;
};

}  // namespace

bool wait_for(int descriptor, short events, double deadline) {
  constexpr double kMost = 3600;
  for (;;) {
    const double left = std::min(deadline - now_seconds(), kMost);
    if (left <= 0) return false;
    pollfd watched{descriptor, events, 0};
    const int count = ::poll(&watched, 1, int(left * 1000) + 1);
    if (count > 0) return (watched.revents & events) != 0;
    if (count < 0 && errno != EINTR) return false;
  }
}

std::unique_ptr<ByteStream> plain_stream(int socket) {
  return std::make_unique<PlainStream>(socket);
}

}  // namespace d5::detail
