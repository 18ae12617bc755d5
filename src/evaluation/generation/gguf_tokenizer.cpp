// SPDX-License-Identifier: Apache-2.0
// The tokenizer of a GGUF file, said in the words of a tokenizer.json and read as one.
#include "evaluation/generation/gguf_tokenizer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/bpe_tokenizer.hpp"

namespace d5::detail {
namespace {

/// Kinds of tokens (ggml's token_type).
constexpr std::int64_t kControl = 3, kUserDefined = 4;

PatternChoice pattern_of(const GgufFile& file) {
  const std::string name(file.text("tokenizer.ggml.pre"));
  if (name == "gpt-2" || name == "default") return PatternChoice::gpt2;
  if (name == "llama-bpe" || name == "llama3") return PatternChoice::llama3;
  if (name == "qwen2") return PatternChoice::qwen2;
  if (name == "smollm") return PatternChoice::smollm;
  throw Unsupported(
      fmt::format("{}: tokenizer.ggml.pre is '{}', expected gpt-2, llama-bpe, qwen2 or smollm; let "
                  "the model's own library make the ids",
                  file.who(), printable(name)));
}

nlohmann::json words_of(const GgufFile& file) {
  const auto& tokens = file.texts("tokenizer.ggml.tokens");
  const auto& kinds = file.naturals("tokenizer.ggml.token_type");
  if (kinds.size() != tokens.size()) {
    throw FormatError(
        fmt::format("{}: tokenizer.ggml.token_type has {} entries, expected {}, one "
                    "a token",
                    file.who(), kinds.size(), tokens.size()));
  }
  nlohmann::json vocabulary = nlohmann::json::object(), added = nlohmann::json::array();
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (!vocabulary.emplace(tokens[id], id).second) {
      throw FormatError(fmt::format("{}: tokenizer.ggml.tokens[{}] is '{}', as a token before it",
                                    file.who(), id, printable(std::string(tokens[id]))));
    }
    if (kinds[id] != kControl && kinds[id] != kUserDefined) continue;
    added.push_back({{"content", tokens[id]}, {"id", id}, {"special", kinds[id] == kControl}});
  }
  nlohmann::json model{{"type", "BPE"},
                       {"vocab", std::move(vocabulary)},
                       {"merges", file.texts("tokenizer.ggml.merges")}};
  if (file.has("tokenizer.ggml.unknown_token_id")) {
    const auto last = std::int64_t(tokens.size()) - 1;
    model["unk_token"] =
        tokens[std::size_t(file.natural("tokenizer.ggml.unknown_token_id", 0, last))];
  }
  return {{"model", std::move(model)},
          {"added_tokens", std::move(added)},
          {"decoder", {{"type", "ByteLevel"}}}};
}

}  // namespace

std::shared_ptr<const Tokenizer> gguf_tokenizer(const GgufFile& file) {
  const std::string kind(file.text("tokenizer.ggml.model"));
  if (kind != "gpt2") {
    throw Unsupported(
        fmt::format("{}: tokenizer.ggml.model is '{}', expected gpt2, a byte-level BPE", file.who(),
                    printable(kind)));
  }
  const PatternChoice pattern = pattern_of(file);
  std::string text;
  try {
    text = words_of(file).dump();
  } catch (const nlohmann::json::type_error& error) {
    throw FormatError(
        fmt::format("{}: a token or a merge is not UTF-8: {}", file.who(), error.what()));
  }
  BpeFile words = read_bpe_file(text, file.who() + ", tokenizer", pattern);
  if (file.has("tokenizer.ggml.add_bos_token") && file.flag("tokenizer.ggml.add_bos_token")) {
    words.frame.before = {
        file.natural("tokenizer.ggml.bos_token_id", 0, std::int64_t(words.tokens.size()) - 1)};
  }
  return std::make_shared<BpeTokenizer>(std::move(words), SpecialText::token);
}

}  // namespace d5::detail
