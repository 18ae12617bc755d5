// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/serving/http/http_message.hpp"

namespace d5 {

/// What answers requests. Thread safety: both functions are called by several threads at once.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Called once a request, when its head was read and before its body is: an answer refuses it
  /// unread. May fill `role` and `parameters`.
  [[nodiscard]] virtual std::optional<HttpResponse> refuse(HttpRequest& head) = 0;
  /// What it throws becomes a problem (`http_problem_of`).
  [[nodiscard]] virtual HttpResponse answer(const HttpRequest& request) = 0;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";       ///< an address of this machine, or a name of one
  int port = 0;                         ///< 0: any that is free
  std::string certificate = {};         ///< PEM file with its chain; empty: no TLS
  std::string key = {};                 ///< PEM file
  std::vector<std::string> names = {};  ///< that requests may ask for, besides `host`'s
  std::size_t most_head_bytes = std::size_t{8} << 10;
  std::size_t most_body_bytes = std::size_t{8} << 20;
  std::size_t most_connections = 256;  ///< at once; each further one is told 503
  double head_seconds = 10;  ///< for a head, from its first byte or the connection's begin
  double body_seconds = 60;  ///< for a body
  double idle_seconds = 30;  ///< between two requests
  double send_seconds = 30;  ///< without a byte taken of an answer
};

/// Whether an address, or a name, is of this machine alone: 127.0.0.0/8, ::1, localhost.
[[nodiscard]] bool is_loopback(const std::string& host);

/// Serves HTTP/1.1, with TLS 1.2 and up where it has a certificate, a thread a connection.
///
/// A request whose `Host` names another machine than this one is refused: a page from elsewhere
/// whose name was pointed here (DNS rebinding) gets nothing. Nothing is told to other origins.
///
///     HttpServer server(handler, {.port = 8500});
///     std::cout << server.address();  // http://127.0.0.1:8500
///
/// Throws: IoError where it cannot listen, or read the certificate.
class HttpServer {
 public:
  HttpServer(HttpHandler& handler, const HttpServerOptions& options);
  /// `stop`
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] std::string address() const;
  /// Ends streams, lets other answers that are under way two seconds, and closes all connections.
  void stop();

 private:
  class Listening;
  std::unique_ptr<Listening> listening_;
};

}  // namespace d5
