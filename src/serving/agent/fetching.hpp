// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "serving/agent/agent_session.hpp"

namespace d5::detail {

/// Fetches the files of an evaluation from the server on a thread of its own (`bring_files`). The
/// destructor gives up.
class Fetching {
 public:
  /// `folder` is for unfinished files; `over` is called at the end, on that thread. `session`
  /// outlives it.
  Fetching(AgentSession& session, std::string evaluation, std::string folder,
           std::function<void()> over);

  [[nodiscard]] bool is_over() const { return over_; }
  /// The last line about a file.
  [[nodiscard]] std::string progress() const;
  /// Call once it is over. Throws: what `bring_files` threw.
  void expect_all() const;

 private:
  mutable std::mutex mutex_;
  std::string progress_;
  std::exception_ptr error_;  ///< set before `over_`
  std::atomic<bool> over_ = false;
  std::jthread thread_;  ///< last: it uses the others
};

}  // namespace d5::detail
