// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {

/// A language model from files.
struct LanguageModel {
  Network network;  ///< the built-in network `decoder` with the files' weights, in float32
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<TokenId> end_tokens = {};  ///< tokens that end an answer
  std::string chat_template = {};        ///< in Jinja, as the files have it; it may be empty
};

struct LanguageModelOptions {
  std::int64_t slots = 1;       ///< texts at once
  std::int64_t capacity = 512;  ///< tokens in the cache of a slot, up to the model's own length
};

}  // namespace d5
