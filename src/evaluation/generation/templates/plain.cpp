// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/chat_template.hpp"

namespace d5::chat_template {
namespace {

/// The texts alone, for models that know no turns.
class PlainTemplate final : public ChatTemplate {
 public:
  explicit PlainTemplate(std::shared_ptr<const Tokenizer> tokenizer)
      : ChatTemplate(std::move(tokenizer)) {}

 private:
  void append(std::span<const ChatMessage> chat, Tokens& tokens) const override {
    for (const TokenId id : tokenizer().frame().before) tokens.add(id);
    for (std::size_t i = 0; i < chat.size(); ++i) {
      if (i > 0) tokens.add("\n\n");
      tokens.add(chat[i].text);
    }
  }
};

}  // namespace

void register_plain(Registry<ChatTemplateEntry>& registry) {
  registry.add("plain", ChatTemplateEntry::of<PlainTemplate>(
                            "the texts of all turns, an empty line between them"));
}

}  // namespace d5::chat_template
