// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/chat_template.hpp"

namespace d5::chat_template {
namespace {

struct ChatmlOptions {
  std::string system;
  void declare(OptionList& options) {
    options.add("system", system,
                "text of the system's message in a chat that does not begin with one; empty: none");
  }
};

/// ChatML, of Qwen, SmolLM and others.
/// Source: OpenAI, "Chat Markup Language" (2023).
class ChatmlTemplate final : public ChatTemplate {
 public:
  using Options = ChatmlOptions;
  ChatmlTemplate(const std::shared_ptr<const Tokenizer>& tokenizer, const Options& options)
      : ChatTemplate(tokenizer),
        options_(options),
        begin_(tokenizer->special_token("<|im_start|>")),
        end_(tokenizer->special_token("<|im_end|>")) {}

  [[nodiscard]] std::vector<TokenId> end_tokens() const override { return {end_}; }

 private:
  void append(std::span<const ChatMessage> chat, Tokens& tokens) const override {
    if (!options_.system.empty() && chat.front().role != "system") {
      append(ChatMessage{"system", options_.system}, tokens);
    }
    for (const ChatMessage& message : chat) append(message, tokens);
    tokens.add(begin_);
    tokens.add("assistant\n");
  }
  void append(const ChatMessage& message, Tokens& tokens) const {
    tokens.add(begin_);
    tokens.add(message.role + "\n" + message.text);
    tokens.add(end_);
    tokens.add("\n");
  }

  Options options_;
  TokenId begin_, end_;
};

}  // namespace

void register_chatml(Registry<ChatTemplateEntry>& registry) {
  registry.add("chatml", ChatTemplateEntry::of<ChatmlTemplate>(
                             "ChatML, <|im_start|> and <|im_end|> around each turn: Qwen, SmolLM"));
}

}  // namespace d5::chat_template
