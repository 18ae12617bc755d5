// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/generators/text_models.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/evaluation/generation/network_generator.hpp"
#include "d5/evaluation/manifest/generator_manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/run/model_assets.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "evaluation/generation/generator_line.hpp"
#include "evaluation/predictor/clockwork_engine.hpp"
#include "evaluation/run/generator_model.hpp"
#include "serving/generators/text_model.hpp"

namespace d5 {
namespace {

using detail::TextModel;

constexpr const char* kClockwork = "clockwork";

std::shared_ptr<const ChatTemplate> chat_of(const TextModelOptions& options,
                                            const std::vector<EntryChoice>& usual,
                                            const std::shared_ptr<const Tokenizer>& tokenizer) {
  std::vector<EntryChoice> choice = usual;
  if (!options.chat_template.empty()) {
    choice = {entry_of_words("chat template", options.chat_template)};
  }
  if (choice.empty()) return fitting_chat_template(tokenizer);
  return chat_templates().at(choice[0].name).make(tokenizer, choice[0].settings);
}

TextModel open_clockwork(const std::string& word, const TextModelOptions& options) {
  const EntryChoice choice = entry_of_words("generator", word);
  const auto times = read_options<detail::ClockworkOptions>(
      choice.settings.owned_by("generator clockwork"), detail::ClockworkOptions());
  const auto tokenizer = detail::ClockworkEngine::tokenizer();
  return {.name = kClockwork,
          .tokenizer = tokenizer,
          .chat = chat_of(options, {}, tokenizer),
          .end_tokens = {detail::ClockworkEngine::kEnd},
          .engine = std::make_unique<detail::ClockworkEngine>(times, std::size_t(options.waiting))};
}

LanguageModel open_files(const GeneratorManifest& manifest, const TextModelOptions& options) {
  std::map<std::string, std::string> files;
  for (const ManifestAsset& asset : manifest.assets) {
    files[asset.name] = find_asset(asset, manifest.reference());
  }
  return detail::open_generator(manifest, files,
                                {.slots = options.slots, .capacity = options.capacity});
}

TextModel open_generator(const std::string& word, const TextModelOptions& options) {
  const auto found = find_manifest<GeneratorManifest>(word);
  const GeneratorManifest& manifest = found.manifest;
  LanguageModel model = open_files(manifest, options);
  const auto chat = chat_of(options, manifest.chat, model.tokenizer);
  std::vector<TokenId> ends = model.end_tokens;
  for (const TokenId end : chat->end_tokens()) {
    if (std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
  }
  auto generator = std::make_shared<NetworkGenerator>(
      open_executor(ExecutorWord(options.framework), std::move(model.network)), model.tokenizer);
  return {.name = manifest.name,
          .tokenizer = model.tokenizer,
          .chat = chat,
          .end_tokens = std::move(ends),
          .engine = std::make_unique<detail::GeneratorLine>(std::move(generator),
                                                            std::size_t(options.waiting))};
}

}  // namespace

TextModels::~TextModels() = default;

std::string TextModels::add(const std::string& word) {
  const bool is_clockwork = word.substr(0, word.find(':')) == kClockwork;
  return add(std::make_shared<TextModel>(is_clockwork ? open_clockwork(word, options_)
                                                      : open_generator(word, options_)));
}

std::string TextModels::add(std::shared_ptr<TextModel> model) {
  const std::lock_guard lock(mutex_);
  const std::string name = model->name;
  if (!models_.emplace(name, std::move(model)).second) throw_duplicate_name("generator", name);
  return name;
}

std::vector<std::string> TextModels::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, model] : models_) names.push_back(name);
  return names;
}

std::shared_ptr<TextModel> TextModels::at(const std::string& name) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto place = models_.find(name); place != models_.end()) return place->second;
  }
  throw_unknown_name("model", name, names());
}

}  // namespace d5
