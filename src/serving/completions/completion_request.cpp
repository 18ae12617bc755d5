// SPDX-License-Identifier: Apache-2.0
#include "serving/completions/completion_request.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

using nlohmann::json;

std::string path_of(CompletionRequest::Interface interface) {
  return interface == CompletionRequest::Interface::chat ? "/chat/completions" : "/completions";
}

std::string body_of(const CompletionRequest& request, const std::vector<std::string>& turns) {
  json stream_options{{"include_usage", true}};
  if (request.each_usage) stream_options["continuous_usage_stats"] = true;
  json body{{"model", request.model},
            {"stream", true},
            {"stream_options", std::move(stream_options)},
            {"max_tokens", request.most_tokens},
            {"temperature", request.temperature}};
  if (request.interface == CompletionRequest::Interface::chat) {
    body["messages"] = json::array();
    for (std::size_t i = 0; i < turns.size(); ++i) {
      body["messages"].push_back(
          {{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", turns[i]}});
    }
  } else {
    body["prompt"] = fmt::format("{}", fmt::join(turns, "\n\n"));
  }
  if (request.ignore_eos) body["ignore_eos"] = true;
  if (request.seed) body["seed"] = *request.seed;
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

CompletionAddress completion_address(const std::string& text) {
  const auto mark = text.find("://");
  const std::string scheme = text.substr(0, mark == std::string::npos ? 0 : mark);
  const auto begin = mark == std::string::npos ? 0 : mark + 3;
  const auto slash = std::min(text.find('/', begin), text.size());
  if ((scheme != "http" && scheme != "https") || slash == begin) {
    throw ValueError(fmt::format(
        "openai: address '{}', expected http://HOST:PORT/MODEL or https://HOST:PORT/MODEL",
        printable(text)));
  }
  std::string model = text.substr(std::min(slash + 1, text.size()));
  if (model == "v1") model.clear();
  if (model.starts_with("v1/")) model.erase(0, 3);
  return {text.substr(0, slash) + "/v1", model};
}

}  // namespace d5::detail
