// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/tokenizer/bpe_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/bpe_steps.hpp"
#include "level2_training/data/tokenizer/bpe_vocabulary.hpp"
#include "level2_training/data/tokenizer/file_fields.hpp"

namespace d5::detail {
namespace {

/// Refuses kinds of BPE whose words are not cut and merged as bytes.
void expect_byte_level(const JsonReader& model, const std::string& who) {
  if (const auto type = text_or_none(model, "type"); type && *type != "BPE") {
    throw Unsupported(
        fmt::format("{}: model.type is '{}', expected 'BPE': other kinds are not read; let the "
                    "model's own library make the ids",
                    who, printable(*type)));
  }
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const auto mark = text_or_none(model, name); mark && !mark->empty()) {
      throw Unsupported(fmt::format("{}: model.{} is '{}', expected none, as byte-level BPE has it",
                                    who, name, printable(*mark)));
    }
  }
  if (has_value(model, "dropout") && model.number("dropout") != 0) {
    throw Unsupported(fmt::format("{}: model.dropout is {}, expected null: ids would be random",
                                  who, model.number("dropout")));
  }
  if (flag(model, "byte_fallback", false)) {
    throw Unsupported(fmt::format(
        "{}: model.byte_fallback is true, expected false: the file is of a tokenizer of "
        "characters, as SentencePiece's, not of bytes",
        who));
  }
}

AddedToken added_token(const JsonReader& entry, const std::string& who, const std::string& place) {
  AddedToken token{.text = entry.text("content"),
                   .id = entry.whole("id", 0, double(kMostTokens - 1)),
                   .is_special = flag(entry, "special", false),
                   .takes_spaces_before = flag(entry, "lstrip", false),
                   .takes_spaces_after = flag(entry, "rstrip", false),
                   .in_normal_form = flag(entry, "normalized", false)};
  if (token.text.empty() || token.text.size() > kMostAddedBytes) {
    throw FormatError(fmt::format("{}: {}.content has {} bytes, expected 1 to {}", who, place,
                                  token.text.size(), kMostAddedBytes));
  }
  if (flag(entry, "single_word", false)) {
    throw Unsupported(fmt::format(
        "{}: {}.single_word is true, expected false: set it so in the file where the token never "
        "stands within a word",
        who, place));
  }
  return token;
}

std::string added_place(std::size_t index) { return fmt::format("added_tokens[{}]", index); }

std::vector<AddedToken> added_tokens(const JsonReader& root, const std::string& who) {
  std::vector<AddedToken> tokens;
  if (!has_value(root, "added_tokens")) return tokens;
  for (const JsonReader& entry : root.objects("added_tokens")) {
    tokens.push_back(added_token(entry, who, added_place(tokens.size())));
  }
  return tokens;
}

}  // namespace

BpeFile read_bpe_file(const std::string& text, const std::string& who, PatternChoice pattern) {
  const JsonReader root(text, who);
  const JsonReader model = root.object("model");
  expect_byte_level(model, who);
  expect_byte_decoder(root, who);
  BpeFile file;
  file.cuts = word_cuts(root, who, pattern);
  file.forms = normal_forms(root, who);
  file.frame = token_frame(root, who);
  file.added = added_tokens(root, who);
  Vocabulary vocabulary(model, file.added.size(), who);
  for (std::size_t i = 0; i < file.added.size(); ++i) {
    vocabulary.add(file.added[i], added_place(i));
  }
  file.bytes = vocabulary.byte_tokens(model);
  file.merges = vocabulary.merges(model);
  file.whole_words = flag(model, "ignore_merges", false);
  file.words = vocabulary.words();
  file.tokens = vocabulary.release_tokens();
  expect_tokens(file.frame, file.tokens, who);
  return file;
}

}  // namespace d5::detail
