// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "d5/serving/http/http_server.hpp"
#include "evaluation/predictor/clockwork.hpp"

namespace d5::detail {

/// Serves a clockwork by OpenAI's interface: a server whose every time is known, to hold clients
/// against. An answer begins when its request has been read. A prompt has a token a byte.
///
///     ClockworkHandler handler({.first = 0.05, .gap = 0.01});
///     HttpServer server(handler, {.port = 8000});   // GET /v1/models, POST /v1/chat/completions
class ClockworkHandler final : public HttpHandler {
 public:
  /// Throws: ValueError for `slots`: each connection has its own thread.
  explicit ClockworkHandler(const ClockworkOptions& options);
  [[nodiscard]] std::optional<HttpResponse> refuse(HttpRequest& head) override;
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) override;

 private:
  [[nodiscard]] HttpResponse completion(const HttpRequest& request, bool is_chat);
  ClockworkOptions options_;
  std::atomic<std::int64_t> number_ = 0;
};

}  // namespace d5::detail
