// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "d5/core/entries/option.hpp"
#include "d5/evaluation/generation/language_model.hpp"
#include "d5/evaluation/manifest/generator_manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"

namespace d5::detail {

/// A generator's manifest in the place of a model's: its files, but no network that a pipeline of
/// tensors could call. Canonical text and digest stay the generator's.
[[nodiscard]] FoundManifest<ModelManifest> as_model(const FoundManifest<GeneratorManifest>& found);

/// A model's manifest, or a generator's in its place. Throws: as `read_once`.
[[nodiscard]] FoundManifest<ModelManifest> read_model(const std::string& text,
                                                      const std::string& file);

/// The generator's manifest of such a model; nothing for others.
[[nodiscard]] std::optional<GeneratorManifest> generator_of(
    const FoundManifest<ModelManifest>& model);

/// Whether a word names a generator: the file of its manifest, or a built-in one.
[[nodiscard]] bool names_generator(const std::string& word);

/// Opens a generator's files, which are given by the names of its assets. Throws: as `open_gguf`
/// and `open_safetensors`.
[[nodiscard]] LanguageModel open_generator(const GeneratorManifest& manifest,
                                           const std::map<std::string, std::string>& files,
                                           const LanguageModelOptions& options);

/// Settings of a generator in an evaluation.
struct GeneratorSettings {
  std::int64_t most_tokens = 64;  ///< largest number of tokens of an answer
  std::int64_t capacity = 1024;   ///< tokens of a prompt and its answer together

  void declare(OptionList& options);
};

/// A framework's word with settings of the generator among its parts:
/// "onnxruntime:session:most_tokens=32".
struct GeneratorWord {
  std::string executor;  ///< the word without them
  GeneratorSettings settings;
};
/// Throws: ValueError, NotFound for a wrong setting.
[[nodiscard]] GeneratorWord generator_word(const std::string& framework);

}  // namespace d5::detail
