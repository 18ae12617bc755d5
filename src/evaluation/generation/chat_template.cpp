// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/chat_template.hpp"

#include "d5/core/errors/error.hpp"

namespace d5 {

void ChatTemplate::Tokens::add(TokenId special) {
  encode_text();
  ids_.push_back(special);
}

void ChatTemplate::Tokens::encode_text() {
  const std::vector<TokenId> ids = tokenizer_.encode(text_, SpecialText::text);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  text_.clear();
}

std::vector<TokenId> ChatTemplate::Tokens::take() {
  encode_text();
  return std::move(ids_);
}

std::vector<TokenId> ChatTemplate::encode(std::span<const ChatMessage> chat) const {
  if (chat.empty()) {
    throw ValueError("chat template: the chat has no messages, expected one or more");
  }
  Tokens tokens(tokenizer());
  append(chat, tokens);
  return tokens.take();
}

std::shared_ptr<const ChatTemplate> fitting_chat_template(
    const std::shared_ptr<const Tokenizer>& tokenizer) {
  for (const auto& [name, entry] : chat_templates().entries()) {
    try {
      return entry.make(tokenizer);
    } catch (const NotFound&) {  // it lacks a special token
    }
  }
  throw Unsupported("chat template: none fits the tokenizer");
}

}  // namespace d5
