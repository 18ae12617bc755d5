// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/tokenizer.hpp"
#include "level2_training/data/tokenizer/bpe_tokenizer.hpp"

namespace d5::tokenizer {
namespace {

struct BpeOptions {
  std::string file;
  detail::PatternChoice pattern = detail::PatternChoice::file;
  SpecialText special = SpecialText::token;

  void declare(OptionList& options) {
    options.add("file", file, "tokenizer.json, as Hugging Face's tokenizers write it",
                detail::path_text());
    options.add("pattern", pattern,
                "pattern that cuts text into words; file: the one that the file has",
                {"file", "gpt2", "llama3", "qwen2", "smollm"});
    options.add("special", special,
                "what a special token's text within a text becomes: its token, or the tokens of "
                "its letters",
                {"token", "text"});
  }
};

std::shared_ptr<const Tokenizer> open_bpe(const BpeOptions& options) {
  if (options.file.empty()) {
    throw ValueError("tokenizer bpe: 'file' is empty, expected the path of a tokenizer.json");
  }
  const std::string who = fmt::format("tokenizer '{}'", printable(options.file));
  const std::string text = read_file(options.file, detail::kMostFileBytes);
  return std::make_shared<detail::BpeTokenizer>(detail::read_bpe_file(text, who, options.pattern),
                                                options.special);
}

}  // namespace

void register_bpe(Registry<TokenizerEntry>& registry) {
  registry.add(
      "bpe", TokenizerEntry::with<BpeOptions>(
                 "byte-level BPE from a tokenizer.json: GPT-2, Llama 3, Qwen2, SmolLM", open_bpe));
}

}  // namespace d5::tokenizer
