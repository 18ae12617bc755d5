// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "evaluation/generation/decoder_weights.hpp"

namespace d5::detail {

/// What a Llama model's config.json says, as transformers read it.
struct LlamaConfig {
  DecoderSizes sizes;
  std::vector<TokenId> end_tokens;
};

/// Reads the text of a config.json; `who` is the file in messages.
/// Throws: FormatError, with file and place; Unsupported for what `decoder` does not compute.
[[nodiscard]] LlamaConfig read_llama_config(const std::string& text, const std::string& who);

}  // namespace d5::detail
