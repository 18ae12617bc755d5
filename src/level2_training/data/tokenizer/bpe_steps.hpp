// SPDX-License-Identifier: Apache-2.0
// The parts of a tokenizer.json around its model, recognised by name.
#pragma once

#include <string>
#include <vector>

#include "core/parsing/json_reader.hpp"
#include "level2_training/data/tokenizer/bpe_file.hpp"

namespace d5::detail {

/// Refuses a step in the file's words. Throws: Unsupported.
[[noreturn]] void refuse_step(const std::string& who, const std::string& what,
                              const std::string& given, const std::string& expected);
/// Steps of the field `name`: those that a `Sequence` has in `list`, or the one that is there.
/// Throws: FormatError.
[[nodiscard]] std::vector<JsonReader> steps_of(const JsonReader& root, const char* name,
                                               const char* list, const std::string& who);

/// `pre_tokenizer`, or the chosen pattern. Throws: Unsupported, with the file's words and a way
/// out.
[[nodiscard]] std::vector<WordCut> word_cuts(const JsonReader& root, const std::string& who,
                                             PatternChoice pattern);
/// `normalizer`. Throws: Unsupported.
[[nodiscard]] std::vector<NormalForm> normal_forms(const JsonReader& root, const std::string& who);
/// `post_processor`. Throws: FormatError; Unsupported.
[[nodiscard]] TokenFrame token_frame(const JsonReader& root, const std::string& who);
/// Throws: Unsupported where `decoder` is not that of bytes.
void expect_byte_decoder(const JsonReader& root, const std::string& who);
/// Throws: FormatError for a frame's id that is no token.
void expect_tokens(const TokenFrame& frame, const std::vector<std::string>& tokens,
                   const std::string& who);

}  // namespace d5::detail
