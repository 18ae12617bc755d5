// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

namespace d5::testing {

/// A socket that listens on the loopback, for tests that are servers of HTTP.
class LoopbackListener {
 public:
  explicit LoopbackListener(int waiting = 1) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, any, size) == 0);
    REQUIRE(::listen(socket_, waiting) == 0);
    REQUIRE(::getsockname(socket_, any, &size) == 0);
    url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    ::setenv("no_proxy", "127.0.0.1", 1);
  }
  ~LoopbackListener() { ::close(socket_); }
  LoopbackListener(const LoopbackListener&) = delete;
  LoopbackListener& operator=(const LoopbackListener&) = delete;

  std::string url;  ///< ends with "/"

 protected:
  /// A request's head. Its file's name, and the first byte that it asks for.
  struct Request {
    std::string name;
    std::size_t begin;
  };
  static Request read_request(int connection) {
    std::string head;
    char letter = 0;
    while (!head.ends_with("\r\n\r\n") && ::read(connection, &letter, 1) == 1) head += letter;
    const std::string key = "Range: bytes=";
    const auto range = head.find(key);
    return {.name = head.substr(5, head.find(' ', 5) - 5),
            .begin = range == head.npos ? 0 : std::stoul(head.substr(range + key.size()))};
  }
  /// What an answer begins with that sends `size` bytes but the first `begin`.
  static std::string answer_head(std::size_t begin, std::size_t size) {
    std::string head = "HTTP/1.1 200 OK\r\n";
    if (begin > 0) {
      head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(begin) + "-" +
             std::to_string(size - 1) + "/" + std::to_string(size) + "\r\n";
    }
    return head + "Content-Length: " + std::to_string(size - begin) + "\r\n\r\n";
  }

  int socket_;
};

}  // namespace d5::testing
