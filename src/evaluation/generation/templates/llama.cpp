// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "d5/evaluation/generation/chat_template.hpp"

namespace d5::chat_template {
namespace {

/// The text without blanks and line ends around it.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

/// The template of Llama 3.
/// Source: Meta, "Llama 3 Model Card and Prompt Formats" (2024).
class LlamaTemplate final : public ChatTemplate {
 public:
  explicit LlamaTemplate(const std::shared_ptr<const Tokenizer>& tokenizer)
      : ChatTemplate(tokenizer),
        text_(tokenizer->special_token("<|begin_of_text|>")),
        begin_(tokenizer->special_token("<|start_header_id|>")),
        end_(tokenizer->special_token("<|end_header_id|>")),
        turn_(tokenizer->special_token("<|eot_id|>")) {}

  [[nodiscard]] std::vector<TokenId> end_tokens() const override { return {turn_}; }

 private:
  void append(std::span<const ChatMessage> chat, Tokens& tokens) const override {
    tokens.add(text_);
    for (const ChatMessage& message : chat) {
      append_header(message.role, tokens);
      tokens.add(trimmed(message.text));
      tokens.add(turn_);
    }
    append_header("assistant", tokens);
  }
  void append_header(std::string_view role, Tokens& tokens) const {
    tokens.add(begin_);
    tokens.add(role);
    tokens.add(end_);
    tokens.add("\n\n");
  }

  TokenId text_, begin_, end_, turn_;
};

}  // namespace

void register_llama(Registry<ChatTemplateEntry>& registry) {
  registry.add("llama", ChatTemplateEntry::of<LlamaTemplate>(
                            "Llama 3: a header for each turn, and <|eot_id|> behind it"));
}

}  // namespace d5::chat_template
