// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/tokenizer/bpe_tokenizer.hpp"

#include <utility>

#include "level2_training/data/tokenizer/unicode.hpp"

namespace d5::detail {
namespace {

std::string normalised(std::string_view text, const std::vector<NormalForm>& forms) {
  std::string result(text);
  for (const NormalForm form : forms) result = in_normal_form(form, result);
  return result;
}

/// Added tokens that are sought in the text as it is written, or in the normalised one.
std::vector<AddedToken> sought(const BpeFile& file, SpecialText special, bool in_normal_form) {
  std::vector<AddedToken> tokens;
  for (AddedToken token : file.added) {
    if (token.in_normal_form != in_normal_form) continue;
    if (token.is_special && special == SpecialText::text) continue;
    if (in_normal_form) token.text = normalised(token.text, file.forms);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

BpeTokenizer::Sought::Sought(const BpeFile& file, SpecialText special)
    : as_written(sought(file, special, false)), as_normalised(sought(file, special, true)) {}

/// One call of `encode`, with its memory.
class BpeTokenizer::Encoding {
 public:
  Encoding(const BpeTokenizer& tokenizer, SpecialText special, std::vector<TokenId>& ids)
      : tokenizer_(tokenizer),
        sought_(special == SpecialText::text ? tokenizer.in_text_ : tokenizer.usual_),
        ids_(ids) {}

  void add_text(std::string_view text) {
    sought_.as_written.split(
        text, [this](std::string_view part) { add_unnormalised(part); },
        [this](TokenId id) { ids_.push_back(id); });
  }

 private:
  void add_unnormalised(std::string_view text) {
    const std::vector<NormalForm>& forms = tokenizer_.file_.forms;
    if (forms.empty()) return add_normalised(text);
    add_normalised(normalised(text, forms));
  }
  void add_normalised(std::string_view text) {
    sought_.as_normalised.split(
        text,
        [this](std::string_view part) {
          tokenizer_.cutter_.cut(part, [this](std::string_view word) { add_word(word); });
        },
        [this](TokenId id) { ids_.push_back(id); });
  }
  void add_word(std::string_view word) {
    const auto whole = tokenizer_.whole_words_.find(word);
    if (whole != tokenizer_.whole_words_.end()) return ids_.push_back(whole->second);
    tokenizer_.merger_.merge(word, memory_, ids_);
  }

  const BpeTokenizer& tokenizer_;
  const Sought& sought_;
  std::vector<TokenId>& ids_;
  WordMerger::Memory memory_;
};

BpeTokenizer::BpeTokenizer(BpeFile file, SpecialText special)
    : file_(std::move(file)),
      usual_(file_, special),
      in_text_(file_, SpecialText::text),
      cutter_(file_.cuts),
      merger_(file_.bytes, file_.merges) {
  static_cast<void>(character_classes());  // fails at opening, not at a text, without ICU
  for (const AddedToken& token : file_.added) {
    if (token.is_special) special_.push_back({token.text, token.id});
  }
  if (!file_.whole_words) return;
  for (const TokenId id : file_.words) whole_words_.emplace(file_.tokens[std::size_t(id)], id);
}

void BpeTokenizer::append_ids(std::string_view text, SpecialText special,
                              std::vector<TokenId>& ids) const {
  Encoding(*this, special, ids).add_text(text);
}

}  // namespace d5::detail
