// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "d5/serving/api/serving_context.hpp"
#include "d5/serving/http/http_server.hpp"

namespace d5 {

struct ServerOptions {
  std::string database;  ///< address for `EvaluationDatabase::open`
  std::optional<std::string> tokens =
      {};                   ///< a file (`AccessTokens`); nullopt: everyone may do everything
  std::string models = {};  ///< folder of models and data sets of others; empty: it takes none
  std::uint64_t most_model_bytes = std::uint64_t{16} << 30;  ///< quota of that folder
  HttpServerOptions http = {.port = 8500};
};

/// The evaluation server: jobs, results, the catalogue and the page, over HTTP
/// (docs/reference/serving.md).
///
///     Server server({.database = "results.db"});
///     server.begin();
///     std::cout << server.address();
///
/// Throws: ValueError for an address of other machines without tokens and TLS; as `HttpServer`,
/// `EvaluationDatabase`, `AccessTokens`.
class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// State behind the answers; add models before the server begins.
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
