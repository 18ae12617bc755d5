// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {

/// A language model from one file.
struct GgufModel {
  Network network;  ///< the built-in network `decoder` with the file's weights, in float32
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<TokenId> end_tokens = {};  ///< tokens that end an answer
  std::string chat_template = {};        ///< in Jinja, as the file has it; it may be empty
};

struct GgufOptions {
  std::int64_t slots = 1;       ///< texts at once
  std::int64_t capacity = 512;  ///< tokens in the cache of a slot, up to the model's own length
};

/// Opens a GGUF file of architecture llama: weights in F32, F16, Q4_0, Q4_1 or Q8_0, and a
/// byte-level BPE. Memory: four bytes a weight.
///
///     GgufModel model = open_gguf("SmolLM2-135M-Instruct.Q4_1.gguf", {.slots = 4});
///     NetworkGenerator generator(make_executor(model.network), model.tokenizer);
///
/// Throws: IoError; FormatError, with file and place, before memory is taken for a file that
/// contradicts itself; Unsupported for another architecture, tensors or scaled rotations that this
/// network has not, types of weights and tokenizers that are not read; ValueError for options.
[[nodiscard]] GgufModel open_gguf(const std::string& path, const GgufOptions& options = {});

}  // namespace d5
