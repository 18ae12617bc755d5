// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace d5::detail {

/// Sends requests and hears their answers as they arrive: any number at a time, on one thread of
/// its own, over connections that stay open.
class CompletionClient {
 public:
  struct Options {
    std::string url = {};
    std::string token = {};  ///< empty: none
    double seconds = 120;    ///< time without a byte after which an answer has failed
  };
  /// Called on the client's thread: bytes of an answer with a status below 300, as they arrive. An
  /// exception ends the answer, with its words as the reason.
  using Hear = std::function<void(std::int64_t id, std::string_view bytes)>;
  /// Called once per request, after its last byte. `status` is HTTP's, 0 without an answer.
  /// `reason` is empty for a whole answer with a status below 300; else the connection's fault, or
  /// the body of the refusal.
  using End = std::function<void(std::int64_t id, int status, const std::string& reason)>;

  /// Throws: Unsupported without libcurl; IoError.
  CompletionClient(Options options, Hear hear, End end);
  /// Requests in progress are dropped, without an `End`.
  ~CompletionClient();
  CompletionClient(const CompletionClient&) = delete;
  CompletionClient& operator=(const CompletionClient&) = delete;

  /// Thread safety: any thread.
  void ask(std::int64_t id, std::string body);
  /// Processor time of the client's thread so far, in s.
  [[nodiscard]] double busy_seconds() const;

 private:
  class Running;
  std::unique_ptr<Running> running_;
};

}  // namespace d5::detail
