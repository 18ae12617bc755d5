// SPDX-License-Identifier: Apache-2.0
#include "evaluation/tokenizer/bpe_steps.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "evaluation/tokenizer/file_fields.hpp"

namespace d5::detail {
namespace {

constexpr const char* kWayOut =
    "; choose the nearest with 'pattern' (gpt2, llama3, qwen2, smollm) and check the ids, or let "
    "the model's own library make them";

[[noreturn]] void refuse_step(const std::string& who, const char* what, const std::string& given,
                              const std::string& expected) {
  throw Unsupported(fmt::format("{}: {} '{}' is not known here, expected {}", who, what,
                                printable(given), expected));
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
  if (!words)
    refuse_step(who, "a pre_tokenizer's pattern", "String", "'Regex'" + std::string(kWayOut));
  const std::string behaviour = step.text("behavior");
  if (behaviour != "Isolated" || flag(step, "invert", false)) {
    refuse_step(who, "a pre_tokenizer's behaviour",
                behaviour + (flag(step, "invert", false) ? ", inverted" : ""),
                "'Isolated', not inverted" + std::string(kWayOut));
  }
  const std::string written = with_written_line_ends(*words);
  for (const KnownPattern& known : kPatterns) {
    if (written == known.words) return known.cut;
  }
  refuse_step(who, "the pre_tokenizer's pattern", written,
              "that of gpt2, llama3 or qwen2" + std::string(kWayOut));
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
    refuse_step(who, "the pre_tokenizer", type == "Digits" ? "Digits, not individual" : type,
                "ByteLevel, Split, or Digits one by one" + std::string(kWayOut));
  }
  return false;
}

std::vector<WordCut> cuts_of_file(const JsonReader& root, const std::string& who) {
  if (!has_value(root, "pre_tokenizer")) {
    refuse_step(who, "the pre_tokenizer", "null",
                "one that ends in ByteLevel" + std::string(kWayOut));
  }
  const JsonReader step = root.object("pre_tokenizer");
  std::vector<JsonReader> steps{step};
  if (step.text("type") == "Sequence") steps = step.objects("pretokenizers");
  std::vector<WordCut> cuts;
  bool is_bytes = false;
  for (const JsonReader& one : steps) {
    if (is_bytes) {
      refuse_step(who, "the pre_tokenizer", one.text("type"),
                  "none behind ByteLevel" + std::string(kWayOut));
    }
    is_bytes = append_cuts(one, who, cuts);
  }
  if (!is_bytes) {
    refuse_step(who, "the pre_tokenizer", step.text("type"),
                "one that ends in ByteLevel" + std::string(kWayOut));
  }
  return cuts;
}

void append_forms(const JsonReader& step, const std::string& who, std::vector<NormalForm>& forms) {
  constexpr std::array<std::pair<std::string_view, NormalForm>, 4> kForms{
      {{"NFC", NormalForm::nfc},
       {"NFD", NormalForm::nfd},
       {"NFKC", NormalForm::nfkc},
       {"NFKD", NormalForm::nfkd}}};
  const std::string type = step.text("type");
  for (const auto& [name, form] : kForms) {
    if (type == name) return forms.push_back(form);
  }
  refuse_step(who, "the normalizer", type,
              "NFC, NFD, NFKC or NFKD; let the model's own library make the ids");
}

std::vector<TokenId> ids_of(const JsonReader& special, const std::string& who) {
  const nlohmann::json* ids = special.field("ids");
  if (!ids || !ids->is_array()) special.fail("ids", "is no list", "a list of ids");
  std::vector<TokenId> result;
  for (const nlohmann::json& id : *ids) {
    if (!id.is_number_integer() || id < 0 || id >= kMostTokens) {
      throw FormatError(fmt::format("{}: post_processor has the id {}, expected 0 to {}", who,
                                    printable(id.dump()), kMostTokens - 1));
    }
    result.push_back(id.get<TokenId>());
  }
  return result;
}

void read_template(const JsonReader& processor, const std::string& who, TokenFrame& frame) {
  bool is_behind = false;
  for (const JsonReader& part : processor.objects("single")) {
    if (part.has("Sequence")) {
      if (is_behind) refuse_step(who, "the post_processor's template", "Sequence", "the text once");
      is_behind = true;
      continue;
    }
    const std::string name = part.object("SpecialToken").text("id");
    const JsonReader special = processor.object("special_tokens").object(name.c_str());
    std::vector<TokenId>& side = is_behind ? frame.after : frame.before;
    for (const TokenId id : ids_of(special, who)) side.push_back(id);
  }
}

/// One end of RoBERTa's frame: a pair of text and id.
TokenId pair_id(const JsonReader& processor, const char* name) {
  const nlohmann::json* pair = processor.field(name);
  const bool is_pair = pair && pair->is_array() && pair->size() == 2 &&
                       (*pair)[1].is_number_integer() && (*pair)[1] >= 0 &&
                       (*pair)[1] < kMostTokens;
  if (!is_pair) processor.fail(name, "is no such pair", "a text and an id");
  return (*pair)[1].get<TokenId>();
}

void read_frame(const JsonReader& processor, const std::string& who, TokenFrame& frame) {
  const std::string type = processor.text("type");
  if (type == "ByteLevel") return;  // says where tokens stand in the text
  if (type == "TemplateProcessing") return read_template(processor, who, frame);
  if (type != "RobertaProcessing") {
    refuse_step(who, "the post_processor", type,
                "ByteLevel, TemplateProcessing or RobertaProcessing");
  }
  frame.before.push_back(pair_id(processor, "cls"));
  frame.after.push_back(pair_id(processor, "sep"));
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

std::vector<NormalForm> normal_forms(const JsonReader& root, const std::string& who) {
  std::vector<NormalForm> forms;
  if (!has_value(root, "normalizer")) return forms;
  const JsonReader step = root.object("normalizer");
  std::vector<JsonReader> steps{step};
  if (step.text("type") == "Sequence") steps = step.objects("normalizers");
  for (const JsonReader& one : steps) append_forms(one, who, forms);
  return forms;
}

TokenFrame token_frame(const JsonReader& root, const std::string& who) {
  TokenFrame frame;
  if (!has_value(root, "post_processor")) return frame;
  const JsonReader processor = root.object("post_processor");
  std::vector<JsonReader> processors{processor};
  if (processor.text("type") == "Sequence") processors = processor.objects("processors");
  for (const JsonReader& one : processors) read_frame(one, who, frame);
  return frame;
}

void expect_byte_decoder(const JsonReader& root, const std::string& who) {
  if (!has_value(root, "decoder")) return;
  const std::string type = root.object("decoder").text("type");
  if (type != "ByteLevel") refuse_step(who, "the decoder", type, "ByteLevel, or none");
}

void expect_tokens(const TokenFrame& frame, const std::vector<std::string>& tokens,
                   const std::string& who) {
  for (const auto* side : {&frame.before, &frame.after}) {
    for (const TokenId id : *side) {
      if (std::size_t(id) >= tokens.size() || tokens[std::size_t(id)].empty()) {
        throw FormatError(
            fmt::format("{}: post_processor has the id {}, which is no token, "
                        "expected one of 0 to {}",
                        who, id, tokens.size() - 1));
      }
    }
  }
}

}  // namespace d5::detail
