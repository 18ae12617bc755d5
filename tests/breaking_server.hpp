// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/loopback_listener.hpp"

namespace d5::testing {

/// Answers each request with what is asked for, but no more than the next of `pieces` bytes, then
/// closes the connection. The last connection ends it.
class BreakingServer : public LoopbackListener {
 public:
  enum class Ranges { known, unknown };
  BreakingServer(std::string content, std::vector<std::size_t> pieces,
                 Ranges ranges = Ranges::known)
      : content_(std::move(content)), pieces_(std::move(pieces)), ranges_(ranges) {
    thread_ = std::thread([this] {
      for (const std::size_t piece : pieces_) answer(piece);
    });
  }
  ~BreakingServer() { thread_.join(); }
  /// First bytes that were asked for, request by request; once the server was used up.
  std::vector<std::size_t> begins;

 private:
  void answer(std::size_t most) {
    const int connection = ::accept(socket_, nullptr, nullptr);
    std::size_t begin = read_request(connection).begin;
    begins.push_back(begin);
    if (ranges_ == Ranges::unknown) begin = 0;
    const std::string all = answer_head(begin, content_.size()) + content_.substr(begin, most);
    (void)!::write(connection, all.data(), all.size());
    ::close(connection);
  }

  std::string content_;
  std::vector<std::size_t> pieces_;
  Ranges ranges_;
  std::thread thread_;
};

}  // namespace d5::testing
