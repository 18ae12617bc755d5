// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/fetching.hpp"

#include "serving/agent/brought_files.hpp"

namespace d5::detail {

Fetching::Fetching(AgentSession& session, std::string evaluation, std::string folder,
                   std::function<void()> over)
    : thread_([this, &session, evaluation = std::move(evaluation), folder = std::move(folder),
               over = std::move(over)](const std::stop_token& stop) {
        const Interrupt interrupt{.token = stop};
        try {
          bring_files(
              evaluation, folder + "/files",
              [&](const std::string& sha256, const auto& hear) {
                return session.fetch(sha256, hear, interrupt);
              },
              [this](const std::string& line) {
                const std::lock_guard lock(mutex_);
                progress_ = line;
              },
              interrupt);
        } catch (...) {
          error_ = std::current_exception();
        }
        over_ = true;
        over();
      }) {}

std::string Fetching::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void Fetching::expect_all() const {
  if (error_) std::rethrow_exception(error_);
}

}  // namespace d5::detail
