// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace d5::detail {

/// What a client of OpenAI's interface asks for, besides the prompt.
struct CompletionRequest {
  enum class Interface { chat, completions } interface = Interface::chat;
  std::string model = {};
  std::int64_t most_tokens = 128;
  double temperature = 0;
  bool ignore_eos = false;  ///< vLLM's and SGLang's own: generates all `most_tokens`
  std::optional<std::int64_t> seed = {};
  bool each_usage = false;  ///< asks for the usage in every event (vLLM's and d5's own)
};

/// "/chat/completions", "/completions".
[[nodiscard]] std::string path_of(CompletionRequest::Interface interface);
/// The request's body: it asks for a stream, with the usage at its end. `turns`: what the user
/// said, and in a session the answers between. Their bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string body_of(const CompletionRequest& request,
                                  const std::vector<std::string>& turns);

/// "http://host:8000/v1" and "meta/llama" of "http://host:8000/meta/llama", ".../v1/meta/llama"; no
/// model for an address without one. Throws: ValueError for what is no http:// or https:// address.
struct CompletionAddress {
  std::string base, model;
};
[[nodiscard]] CompletionAddress completion_address(const std::string& text);

}  // namespace d5::detail
