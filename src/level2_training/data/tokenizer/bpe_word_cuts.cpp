// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "level2_training/data/tokenizer/bpe_steps.hpp"
#include "level2_training/data/tokenizer/file_fields.hpp"

namespace d5::detail {
namespace {

[[noreturn]] void refuse_cut(const std::string& who, const std::string& what,
                             const std::string& given, const std::string& expected) {
  refuse_step(who, what, given,
              expected +
                  "; choose the nearest with 'pattern' (gpt2, llama3, qwen2, smollm) and "
                  "check the ids, or let the model's own library make them");
}

struct KnownPattern {
  std::string_view words;
  WordCut cut;
};
constexpr std::array<KnownPattern, 3> kPatterns{{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
     WordCut::gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordCut::llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordCut::qwen2},
}};

/// The pattern with its line ends written as `\r` and `\n`: files have them either way.
std::string with_written_line_ends(const std::string& pattern) {
  std::string written;
  for (const char c : pattern) {
    if (c == '\r') written += "\\r";
    if (c == '\n') written += "\\n";
    if (c != '\r' && c != '\n') written += c;
  }
  return written;
}

WordCut split_cut(const JsonReader& step, const std::string& who) {
  const JsonReader pattern = step.object("pattern");
  const auto words = text_or_none(pattern, "Regex");
  if (!words) refuse_cut(who, "the pre_tokenizer's pattern", "String", "'Regex'");
  const std::string behaviour = step.text("behavior");
  if (behaviour != "Isolated" || flag(step, "invert", false)) {
    refuse_cut(who, "the pre_tokenizer's behaviour",
               behaviour + (flag(step, "invert", false) ? ", inverted" : ""),
               "'Isolated', not inverted");
  }
  const std::string written = with_written_line_ends(*words);
  for (const KnownPattern& known : kPatterns) {
    if (written == known.words) return known.cut;
  }
  refuse_cut(who, "the pre_tokenizer's pattern", written, "that of gpt2, llama3 or qwen2");
}

/// Appends a step's cuts. Returns whether it is the step that turns words into bytes, the last one.
bool append_cuts(const JsonReader& step, const std::string& who, std::vector<WordCut>& cuts) {
  const std::string type = step.text("type");
  if (type == "ByteLevel") {
    if (flag(step, "add_prefix_space", true)) cuts.push_back(WordCut::space_before);
    if (flag(step, "use_regex", true)) cuts.push_back(WordCut::gpt2);
    return true;
  }
  if (type == "Split") {
    cuts.push_back(split_cut(step, who));
  } else if (type == "Digits" && flag(step, "individual_digits", false)) {
    cuts.push_back(WordCut::digits);
  } else {
    refuse_cut(who, "the pre_tokenizer", type == "Digits" ? "Digits, not individual" : type,
               "ByteLevel, Split, or Digits one by one");
  }
  return false;
}

std::vector<WordCut> cuts_of_file(const JsonReader& root, const std::string& who) {
  constexpr const char* kLastStep = "one that ends in ByteLevel";
  const std::vector<JsonReader> steps = steps_of(root, "pre_tokenizer", "pretokenizers", who);
  if (steps.empty()) refuse_cut(who, "the pre_tokenizer", "null", kLastStep);
  std::vector<WordCut> cuts;
  bool is_bytes = false;
  for (const JsonReader& step : steps) {
    if (is_bytes) {
      refuse_cut(who, "the pre_tokenizer", step.text("type"), "none behind ByteLevel");
    }
    is_bytes = append_cuts(step, who, cuts);
  }
  if (!is_bytes) refuse_cut(who, "the pre_tokenizer", steps.back().text("type"), kLastStep);
  return cuts;
}

}  // namespace

std::vector<WordCut> word_cuts(const JsonReader& root, const std::string& who,
                               PatternChoice pattern) {
  switch (pattern) {
    case PatternChoice::gpt2:
      return {WordCut::gpt2};
    case PatternChoice::llama3:
      return {WordCut::llama3};
    case PatternChoice::qwen2:
      return {WordCut::qwen2};
    case PatternChoice::smollm:
      return {WordCut::digits, WordCut::gpt2};
    case PatternChoice::file:
      break;
  }
  return cuts_of_file(root, who);
}

}  // namespace d5::detail
