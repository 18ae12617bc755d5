// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "d5/level2_training/data/decoded_stream.hpp"
#include "serving/generators/stop_text_cut.hpp"
#include "serving/generators/text_model.hpp"

namespace d5::detail {

/// An answer on its way to a client: texts instead of tokens. Destroyed before its end, it frees
/// its slot. Thread safety: one thread.
class RunningCompletion {
 public:
  /// Throws: CompletionFault with status 429 if line and slots are full.
  RunningCompletion(std::shared_ptr<TextModel> model, TextRequest request);
  ~RunningCompletion();
  RunningCompletion(const RunningCompletion&) = delete;
  RunningCompletion& operator=(const RunningCompletion&) = delete;

  struct Text {
    std::string text = {};  ///< empty: tokens that are no whole text yet, or none
    PieceKind kind = PieceKind::content;
    std::optional<AnswerOutcome> outcome = {};  ///< set for the last one
  };
  /// The next text; nothing if none comes within `seconds`. Call it until there is an outcome.
  [[nodiscard]] std::optional<Text> next(double seconds);

  [[nodiscard]] std::int64_t prompt_tokens() const { return prompt_tokens_; }
  /// Tokens of the texts so far.
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }

 private:
  class Heard;
  [[nodiscard]] std::string text_of(const std::vector<TokenId>& tokens);

  std::shared_ptr<TextModel> model_;
  std::shared_ptr<Heard> heard_;
  std::vector<TokenId> stop_tokens_;
  std::int64_t number_ = 0, prompt_tokens_ = 0, tokens_ = 0;
  bool is_over_ = false;
  DecodedStream decoded_;
  StopTextCut cut_;
};

}  // namespace d5::detail
