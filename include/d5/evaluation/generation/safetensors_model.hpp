// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/evaluation/generation/language_model.hpp"

namespace d5 {

/// Opens a folder of a Llama model as Hugging Face's transformers write it: config.json,
/// tokenizer.json (a byte-level BPE) and model.safetensors, or the shards that
/// model.safetensors.index.json lists. Weights in F32, F16 or BF16 become float32. Memory: four
/// bytes a weight.
///
///     LanguageModel model = open_safetensors("SmolLM2-135M-Instruct", {.slots = 4});
///     NetworkGenerator generator(make_executor(model.network), model.tokenizer);
///
/// Throws: IoError; NotFound for a missing file; FormatError, with file and place, before memory is
/// taken for files that contradict themselves or each other; Unsupported for what the network does
/// not compute: another architecture or activation, scaled rotations, biases, a sliding window,
/// further tensors, quantized weights; ValueError for options.
[[nodiscard]] LanguageModel open_safetensors(const std::string& folder,
                                             const LanguageModelOptions& options = {});

/// The same from files anywhere, by their names in such a folder:
/// {"config.json", "/store/2f/2f71..."}.
[[nodiscard]] LanguageModel open_safetensors(const std::map<std::string, std::string>& files,
                                             const LanguageModelOptions& options = {});

}  // namespace d5
