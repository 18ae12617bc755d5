// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/tokenizer/bpe_steps.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/file_fields.hpp"

namespace d5::detail {
namespace {

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

void refuse_step(const std::string& who, const std::string& what, const std::string& given,
                 const std::string& expected) {
  throw Unsupported(fmt::format("{}: {} '{}' is not known here, expected {}", who, what,
                                printable(given), expected));
}

std::vector<JsonReader> steps_of(const JsonReader& root, const char* name, const char* list,
                                 const std::string& who) {
  if (!has_value(root, name)) return {};
  const JsonReader step = root.object(name);
  if (step.text("type") != "Sequence") return {step};
  std::vector<JsonReader> steps = step.objects(list);
  if (steps.size() > kMostSteps) {
    throw FormatError(fmt::format("{}: {}.{} has {} steps, expected at most {}", who, name, list,
                                  steps.size(), kMostSteps));
  }
  return steps;
}

std::vector<NormalForm> normal_forms(const JsonReader& root, const std::string& who) {
  std::vector<NormalForm> forms;
  for (const JsonReader& step : steps_of(root, "normalizer", "normalizers", who)) {
    append_forms(step, who, forms);
  }
  return forms;
}

TokenFrame token_frame(const JsonReader& root, const std::string& who) {
  TokenFrame frame;
  for (const JsonReader& step : steps_of(root, "post_processor", "processors", who)) {
    read_frame(step, who, frame);
  }
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
