// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/completion_fault.hpp"

#include <nlohmann/json.hpp>

namespace d5::detail {
namespace {

using nlohmann::json;

constexpr int kBadRequest = 400, kUnprocessable = 422, kTooMany = 429, kFirstOfServer = 500;

json null_if_empty(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

const char* type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case kTooMany:
      return "rate_limit_error";
    default:
      return status < kFirstOfServer ? "invalid_request_error" : "server_error";
  }
}

std::string body_of(int status, const std::string& message, const std::string& param = {},
                    const std::string& code = {}) {
  const json error{{"message", message},
                   {"type", type_of(status)},
                   {"param", null_if_empty(param)},
                   {"code", null_if_empty(code)}};
  return json{{"error", error}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

int status_of(int status) { return status == kUnprocessable ? kBadRequest : status; }

int status_of(const std::exception& error) {
  if (const auto* fault = dynamic_cast<const CompletionFault*>(&error)) {
    return fault->words().status;
  }
  return status_of(http_status_of(error));
}

}  // namespace

std::string openai_error_text(const std::exception& error) {
  const int status = status_of(error);
  if (const auto* fault = dynamic_cast<const CompletionFault*>(&error)) {
    return body_of(status, error.what(), fault->param(), fault->words().code);
  }
  return body_of(status, error.what());
}

HttpResponse openai_error(const std::exception& error) {
  HttpResponse response = HttpResponse::json(openai_error_text(error), status_of(error));
  if (response.status == kTooMany) response.headers.add("Retry-After", "1");
  return response;
}

HttpResponse openai_error_of_problem(HttpResponse problem) {
  const json told = json::parse(problem.body, nullptr, /*allow_exceptions=*/false);
  if (!told.is_object() || !told.contains("detail") || !told["detail"].is_string()) return problem;
  const int status = status_of(problem.status);
  HttpResponse error = HttpResponse::json(body_of(status, told["detail"]), status);
  for (const auto& [name, value] : problem.headers.lines()) {
    if (name != "Content-Type") error.headers.add(name, value);
  }
  return error;
}

}  // namespace d5::detail
