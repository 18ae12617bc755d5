// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/loopback_listener.hpp"

namespace d5::testing {

/// Answers the first connection with the first text, byte for byte, and so on; then each connection
/// ends, or stays open without a byte until the client leaves.
class ScriptedServer : public LoopbackListener {
 public:
  enum class Then { close, hang };
  explicit ScriptedServer(std::vector<std::string> answers, Then then = Then::close)
      : LoopbackListener(16), answers_(std::move(answers)), then_(then) {
    thread_ = std::thread([this] {
      for (const std::string& answer : answers_) serve(answer);
    });
  }
  ~ScriptedServer() { thread_.join(); }
  /// Bodies of the requests; once all were answered.
  std::vector<std::string> asked;

 private:
  void serve(const std::string& answer) {
    const int connection = ::accept(socket_, nullptr, nullptr);
    std::string request;
    char letter = 0;
    while (!request.ends_with("\r\n\r\n") && ::read(connection, &letter, 1) == 1) request += letter;
    const auto place = request.find("Content-Length: ");
    std::string body(place == request.npos ? 0 : std::stoul(request.substr(place + 16)), ' ');
    for (std::size_t read = 0; read < body.size();) {
      const auto count = ::read(connection, body.data() + read, body.size() - read);
      if (count <= 0) break;
      read += std::size_t(count);
    }
    asked.push_back(body);
    (void)!::write(connection, answer.data(), answer.size());
    pollfd watched{connection, POLLIN, 0};
    if (then_ == Then::hang) ::poll(&watched, 1, 60000);
    ::close(connection);
  }

  std::vector<std::string> answers_;
  Then then_;
  std::thread thread_;
};

}  // namespace d5::testing
