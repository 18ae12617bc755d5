// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "d5/serving/api/serving_context.hpp"
#include "d5/serving/http/http_server.hpp"

namespace d5 {

struct ServerOptions {
  std::string database;                    ///< as `EvaluationDatabase::open` takes it
  std::optional<std::string> tokens = {};  ///< a file (`AccessTokens`); none: all may do all
  HttpServerOptions http = {.port = 8500};
};

/// The server of evaluations: jobs, results, the catalogue and the page, over HTTP
/// (docs/reference/serving.md).
///
///     Server server({.database = "results.db"});
///     server.begin();
///     std::cout << server.address();
///
/// Throws: ValueError for an address that others reach without tokens and TLS; as `HttpServer`,
/// `EvaluationDatabase`, `AccessTokens`.
class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// What answers come from: models of its own are added before it begins.
  [[nodiscard]] ServingContext& context() { return context_; }
  void begin();
  [[nodiscard]] std::string address() const;
  [[nodiscard]] int port() const;
  void stop();

 private:
  ServerOptions options_;
  ServingContext context_;
  std::unique_ptr<HttpHandler> router_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace d5
