// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serving/generators/asked_completion.hpp"
#include "serving/generators/running_completion.hpp"

namespace d5::detail {

/// Writes an answer in the words of OpenAI's interface.
class CompletionWriter {
 public:
  explicit CompletionWriter(const AskedCompletion& asked);

  /// A server-sent event; empty if the client hears nothing of this text.
  [[nodiscard]] std::string event(const RunningCompletion::Text& text,
                                  const RunningCompletion& running);
  /// The last events of a stream: its end with the reason, usage, [DONE]; or its fault.
  [[nodiscard]] std::string last_events(const RunningCompletion::Text& text,
                                        const RunningCompletion& running);
  /// A whole answer, with all its `content` and `reasoning`.
  [[nodiscard]] std::string whole(const std::string& content, const std::string& reasoning,
                                  AnswerEnd end, const RunningCompletion& running) const;

 private:
  [[nodiscard]] nlohmann::ordered_json body(const char* object,
                                            nlohmann::ordered_json choices) const;
  [[nodiscard]] std::string chunk(nlohmann::ordered_json choices,
                                  nlohmann::ordered_json usage) const;

  CompletionForm form_;
  bool tells_usage_, tells_each_usage_;
  std::string id_, model_;
  std::int64_t created_;
  bool has_role_ = false;  ///< the stream has said whose turn it is
};

}  // namespace d5::detail
