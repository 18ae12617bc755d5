// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "serving/agent/agent_session.hpp"

namespace d5::detail {

/// News from other threads for a thread that waits by poll.
class NewsBox {
 public:
  NewsBox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_ < 0) throw IoError("an agent needs a file descriptor, and none is left");
  }
  ~NewsBox() { ::close(event_); }
  NewsBox(const NewsBox&) = delete;
  NewsBox& operator=(const NewsBox&) = delete;

  [[nodiscard]] int descriptor() const { return event_; }
  void put(AgentNews news) {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
    constexpr std::uint64_t kOne = 1;
    (void)!::write(event_, &kOne, sizeof kOne);
  }
  /// The next news, if there is any.
  [[nodiscard]] std::optional<AgentNews> take() {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    (void)!::read(event_, &count, sizeof count);
    if (news_.empty()) return std::nullopt;
    AgentNews news = std::move(news_.front());
    news_.pop_front();
    return news;
  }

 private:
  int event_;
  std::mutex mutex_;
  std::deque<AgentNews> news_;
};

}  // namespace d5::detail
