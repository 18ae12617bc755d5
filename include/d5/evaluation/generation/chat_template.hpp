// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {

/// A turn of a chat.
struct ChatMessage {
  std::string role;  ///< "system", "user", "assistant"
  std::string text;
};

/// Turns a chat into the tokens in which a model was trained to see it. The text of a message never
/// becomes a special token, so that nobody ends his turn, or begins another's, by what he writes.
///
///     const std::vector<ChatMessage> turns{{"user", "Hello"}};
///     const auto prompt = chat_templates().at("chatml").make(tokenizer)->encode(turns);
class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;
  /// Tokens up to the begin of the assistant's answer. Throws: ValueError for a chat without
  /// messages.
  [[nodiscard]] std::vector<TokenId> encode(std::span<const ChatMessage> chat) const;
  /// Tokens that end the assistant's turn.
  [[nodiscard]] virtual std::vector<TokenId> end_tokens() const { return {}; }

 protected:
  /// Collects tokens. Text between two special tokens is encoded as a whole.
  class Tokens {
   public:
    explicit Tokens(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
    void add(TokenId special);
    void add(std::string_view text) { text_ += text; }
    [[nodiscard]] std::vector<TokenId> take();

   private:
    void encode_text();
    const Tokenizer& tokenizer_;
    std::string text_;
    std::vector<TokenId> ids_;
  };
  explicit ChatTemplate(std::shared_ptr<const Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)) {}
  virtual void append(std::span<const ChatMessage> chat, Tokens& tokens) const = 0;
  [[nodiscard]] const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
};

/// A template is made for a tokenizer. Throws: NotFound for one that lacks its special tokens.
using ChatTemplateEntry =
    Entry<std::shared_ptr<const ChatTemplate>(std::shared_ptr<const Tokenizer>)>;
/// All chat templates by name; src/evaluation/generation/templates has the built-in ones.
[[nodiscard]] Registry<ChatTemplateEntry>& chat_templates();
/// The first, in the order of names, whose special tokens the tokenizer has. "plain" needs none.
[[nodiscard]] std::shared_ptr<const ChatTemplate> fitting_chat_template(
    const std::shared_ptr<const Tokenizer>& tokenizer);

}  // namespace d5
