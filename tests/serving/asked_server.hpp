// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "d5/serving/api/server.hpp"
#include "tests/serving/raw_client.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {

struct HttpAnswer {
  int status = 0;
  std::string head, body;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body); }
};

/// A server on a port of its own with a new database, and what it answers.
class AskedServer {
 public:
  /// `most_model_bytes`: the quota of models of others; 0: it keeps none.
  explicit AskedServer(std::optional<std::string> tokens = {}, std::uint64_t most_model_bytes = 0)
      : database(folder / "results.db"),
        server({.database = database,
                .tokens = std::move(tokens),
                .models = most_model_bytes > 0 ? folder / "kept" : "",
                .most_model_bytes = most_model_bytes,
                .http = {.port = 0}}) {
    server.begin();
  }

  HttpAnswer ask(const std::string& method, const std::string& target, const std::string& body = {},
                 const std::string& headers = {}) {
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
                          "Connection: close\r\n";
    if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    const std::string all = raw_answer(server.port(), request + "\r\n" + body);
    const std::size_t end = all.find("\r\n\r\n");
    if (end == all.npos) throw IoError("an answer has no head: " + all);
    return {std::stoi(all.substr(9, 3)), all.substr(0, end + 2), all.substr(end + 4)};
  }
  HttpAnswer get(const std::string& target) { return ask("GET", target); }
  /// The items of a page. Fails unless it is one.
  nlohmann::json items(const std::string& target) {
    const HttpAnswer answer = get(target);
    INFO(target << ": " << answer.body);
    REQUIRE(answer.status == 200);
    return answer.json().at("items");
  }

  TemporaryFolder folder;
  std::string database;
  Server server;
};

}  // namespace d5::testing
