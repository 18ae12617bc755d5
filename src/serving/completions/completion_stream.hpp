// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "d5/evaluation/load/query_record.hpp"
#include "serving/client/event_lines.hpp"

namespace d5::detail {

/// Tokens of a request, as a server counts them.
struct CompletionUsage {
  std::int64_t prompt = 0, completion = 0;
  std::int64_t cached = 0;  ///< part of the prompt that came from a cache
};

/// A piece of an answer, valid during the call.
struct CompletionPiece {
  PieceKind kind = PieceKind::content;
  std::string_view text = {};  ///< empty: a role, or nothing
  /// By the usage in its own event, if each event has one: 0 for text that a server held back and
  /// had counted before. Else 1 for a piece with text, 0 without.
  std::int64_t tokens = 0;
};

/// Reads the stream of one answer of OpenAI's interface: chat completions
/// ("choices[0].delta.content"), or completions ("choices[0].text").
///
/// Source: OpenAI, "API Reference", Chat Completions, "The chat completion chunk object";
/// "reasoning_content" (vLLM, SGLang, DeepSeek) and "reasoning" are servers' own fields.
///
/// Throws: FormatError for what is no such stream, has several choices, goes on after its end, or
/// counts more than 2^31 tokens;
/// Error with the server's words for an event that is an error.
class CompletionStream {
 public:
  using Hear = std::function<void(const CompletionPiece&)>;
  /// Takes the next bytes, cut anywhere.
  void add(std::string_view bytes, const Hear& hear);
  /// The connection has ended. Throws: FormatError if the answer has not: neither "[DONE]" nor a
  /// "finish_reason" came.
  void end() const;

  /// The last that came; nothing if the server sent none.
  [[nodiscard]] const std::optional<CompletionUsage>& usage() const { return usage_; }
  /// The whole text, reasoning and calls of tools included.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The answer proper.
  [[nodiscard]] const std::string& content() const { return content_; }
  /// Number of pieces with text.
  [[nodiscard]] std::int64_t pieces() const { return pieces_; }
  /// Whether some bytes were not UTF-8; each such byte is U+FFFD in the text.
  [[nodiscard]] bool is_garbled() const { return garbled_; }

 private:
  void event(std::string data, const Hear& hear);
  EventLines lines_;
  std::optional<CompletionUsage> usage_;
  std::string text_, content_;
  std::int64_t pieces_ = 0;
  bool garbled_ = false, finished_ = false, done_ = false;
};

/// The server's words in a refused request's body: OpenAI's {"error": {"message": ...}}, and what
/// others send; the beginning of any other body.
[[nodiscard]] std::string refusal_words(std::string_view body);

}  // namespace d5::detail
