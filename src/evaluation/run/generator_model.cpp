// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/generator_model.hpp"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <vector>

#include "d5/evaluation/generation/gguf_model.hpp"
#include "d5/evaluation/generation/safetensors_model.hpp"

namespace d5::detail {

FoundManifest<ModelManifest> as_model(const FoundManifest<GeneratorManifest>& found) {
  const GeneratorManifest& generator = found.manifest;
  FoundManifest<ModelManifest> model{
      .manifest = {}, .file = found.file, .canonical = found.canonical, .digest = found.digest};
  static_cast<ManifestIdentity&>(model.manifest) = generator;
  model.manifest.task = "text generation";
  model.manifest.licence = generator.licence;
  model.manifest.source = generator.source;
  model.manifest.format = ModelManifest::kNone;
  model.manifest.assets = generator.assets;
  return model;
}

FoundManifest<ModelManifest> read_model(const std::string& text, const std::string& file) {
  if (manifest_kind_of(text, file) != GeneratorManifest::kKind) {
    return read_once<ModelManifest>(text, file);
  }
  return as_model(read_once<GeneratorManifest>(text, file));
}

std::optional<GeneratorManifest> generator_of(const FoundManifest<ModelManifest>& model) {
  if (manifest_kind_of(model.canonical, model.file) != GeneratorManifest::kKind) return {};
  return read_once<GeneratorManifest>(model.canonical, model.file).manifest;
}

bool names_generator(const std::string& word) {
  if (!is_manifest_path(word)) {
    const auto known = carried_manifests(GeneratorManifest::kKind);
    return std::ranges::find(known, word.substr(0, word.find('@'))) != known.end();
  }
  const std::string file = manifest_file(ModelManifest::kKind, word);
  return manifest_kind_of(read_manifest_file(file), file) == GeneratorManifest::kKind;
}

LanguageModel open_generator(const GeneratorManifest& manifest,
                             const std::map<std::string, std::string>& files,
                             const LanguageModelOptions& options) {
  if (manifest.format == "safetensors") return open_safetensors(files, options);
  return open_gguf(files.at(manifest.assets.front().name), options);
}

void GeneratorSettings::declare(OptionList& options) {
  options.add("most_tokens", most_tokens, "largest number of tokens of an answer", {.least = 1});
  options.add("capacity", capacity, "tokens of a prompt and its answer together", {.least = 1});
}

GeneratorWord generator_word(const std::string& framework) {
  const std::vector<Option> own = options_of<GeneratorSettings>();
  GeneratorWord word;
  Settings settings;
  for (const auto piece : std::views::split(framework, ':')) {
    const std::string part(piece.begin(), piece.end());
    const std::string name = part.substr(0, part.find('='));
    const bool is_setting = name.size() < part.size();
    const bool has_own_executor = word.executor.find(':') != std::string::npos;
    const bool is_known = std::ranges::find(own, name, &Option::name) != own.end();
    if (is_setting && (is_known || !has_own_executor)) {
      settings.set(name, part.substr(name.size() + 1));
    } else {
      word.executor += (word.executor.empty() ? "" : ":") + part;
    }
  }
  word.settings =
      read_options<GeneratorSettings>(settings.owned_by("generator"), GeneratorSettings());
  return word;
}

}  // namespace d5::detail
