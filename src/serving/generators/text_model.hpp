// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/generation/chat_template.hpp"
#include "evaluation/generation/text_engine.hpp"

namespace d5::detail {

/// A model that generates text for clients.
struct TextModel {
  std::string name;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat;
  std::vector<TokenId> end_tokens;  ///< tokens that end an answer, the chat template's too
  std::unique_ptr<TextEngine> engine;
};

}  // namespace d5::detail
