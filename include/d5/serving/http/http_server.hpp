// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/serving/http/http_message.hpp"

namespace d5 {

/// Answers requests. Thread safety: several threads call all functions at once.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Called once per request, when its head has been read and its body has not: a returned answer
  /// refuses it unread. May fill `role` and `parameters`.
  [[nodiscard]] virtual std::optional<HttpResponse> refuse(HttpRequest& head) = 0;
  /// The largest body in bytes. Called once per request that is not refused, if its body is longer
  /// than `usual`, or of unknown length.
  [[nodiscard]] virtual std::size_t most_body_bytes(const HttpRequest& head, std::size_t usual);
  /// Exceptions become problems (`http_problem_of`).
  [[nodiscard]] virtual HttpResponse answer(const HttpRequest& request) = 0;
  /// A problem (`HttpResponse::problem`) in the form of errors at this address. Called once per
  /// answer that is an error.
  [[nodiscard]] virtual HttpResponse error_form(const HttpRequest& head, HttpResponse problem);
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";       ///< an address or a name of this machine
  int port = 0;                         ///< 0: any free port
  std::string certificate = {};         ///< PEM file with its chain; empty: no TLS
  std::string key = {};                 ///< PEM file
  std::vector<std::string> names = {};  ///< host names that requests may use, besides `host`'s
  std::size_t most_head_bytes = std::size_t{8} << 10;
  std::size_t most_body_bytes = std::size_t{8} << 20;
  std::size_t most_connections = 256;  ///< at once; further ones receive 503
  double head_seconds = 10;  ///< for a head, from its first byte or the connection's begin
  double body_seconds = 60;  ///< for a body
  double idle_seconds = 30;  ///< between two requests
  double send_seconds = 30;  ///< without a byte of the answer sent
};

/// Whether an address, or a name, reaches this machine alone: 127.0.0.0/8, ::1, localhost.
[[nodiscard]] bool is_loopback(const std::string& host);

/// Serves HTTP/1.1, with TLS 1.2 or later if it has a certificate, with one thread per connection.
///
/// Refuses requests whose `Host` names another machine, so that a foreign page cannot reach it by
/// DNS rebinding. Other origins get no access (no CORS headers).
///
///     HttpServer server(handler, {.port = 8500});
///     std::cout << server.address();  // http://127.0.0.1:8500
///
/// Throws: IoError if it cannot listen, or read the certificate.
class HttpServer {
 public:
  HttpServer(HttpHandler& handler, const HttpServerOptions& options);
  /// Calls `stop`.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] std::string address() const;
  /// Ends streams, gives other running answers two seconds, and closes all connections.
  void stop();

 private:
  class Listening;
  std::unique_ptr<Listening> listening_;
};

}  // namespace d5
