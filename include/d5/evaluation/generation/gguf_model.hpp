// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/generation/language_model.hpp"

namespace d5 {

/// Opens a GGUF file of architecture llama: weights in F32, F16, Q4_0, Q4_1 or Q8_0, and a
/// byte-level BPE. Memory: four bytes a weight.
///
///     LanguageModel model = open_gguf("SmolLM2-135M-Instruct.Q4_1.gguf", {.slots = 4});
///     NetworkGenerator generator(make_executor(model.network), model.tokenizer);
///
/// Throws: IoError; FormatError, with file and place, before memory is taken for a file that
/// contradicts itself; Unsupported for another architecture, tensors or scaled rotations that this
/// network has not, types of weights and tokenizers that are not read; ValueError for options.
[[nodiscard]] LanguageModel open_gguf(const std::string& path,
                                      const LanguageModelOptions& options = {});

}  // namespace d5
