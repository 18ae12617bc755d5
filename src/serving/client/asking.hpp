// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "d5/serving/client/serving_client.hpp"
#include "serving/client/http_call.hpp"

namespace d5::detail {

/// Throws the error of a refusal, with the server's words.
[[noreturn]] void throw_problem(int status, const std::string& body);

/// Requests to one server.
class Asking {
 public:
  Asking(const std::string& address, const ServingClientOptions& options)
      : address_(address), options_(options) {}

  [[nodiscard]] HttpCall call_to(const std::string& method, const std::string& path,
                                 const std::string& body = {}) const;
  /// The answer, if it is not a refusal.
  [[nodiscard]] CallAnswer answer(const HttpCall& call) const;
  /// The answer, whatever its status is. Throws: IoError without one.
  [[nodiscard]] CallAnswer any_answer(const HttpCall& call) const;
  /// Parses the answer with `read`, and reports any failure.
  template <class Read>
  [[nodiscard]] auto understood(const std::string& body, const Read& read) const {
    expect_shallow(body);
    try {
      return read(nlohmann::json::parse(body));
    } catch (const nlohmann::json::exception& error) {
      throw_strange(error.what());
    }
  }
  template <class Read>
  [[nodiscard]] auto got(const std::string& path, const Read& read) const {
    return understood(answer(call_to("GET", path)).body, read);
  }
  /// All items of all pages.
  [[nodiscard]] nlohmann::json items(const std::string& path) const;
  /// The job of a POST request.
  [[nodiscard]] SubmittedJob submitted(const std::string& path, const std::string& body) const;

 private:
  void expect_shallow(const std::string& body) const;
  [[noreturn]] void throw_strange(const char* why) const;

  const std::string& address_;
  const ServingClientOptions& options_;
};

}  // namespace d5::detail
