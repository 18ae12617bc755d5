// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/safetensors_model.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "evaluation/generation/llama_config.hpp"
#include "evaluation/generation/safetensors_weights.hpp"

namespace d5 {
namespace {

using detail::DecoderWeight;
using detail::SafetensorsWeights;

using Files = std::map<std::string, std::string>;

constexpr const char *kConfig = "config.json", *kTokenizer = "tokenizer.json",
                     *kTemplate = "chat_template.jinja", *kWeights = "model.safetensors",
                     *kIndex = "model.safetensors.index.json";
constexpr std::size_t kMostText = std::size_t(1) << 26;

constexpr detail::DecoderNames kPublishedNames{
    .embedding = "model.embed_tokens.weight",
    .norm = "model.norm.weight",
    .head = "lm_head.weight",
    .layer = "model.layers.{}.",
    .attention_norm = "input_layernorm.weight",
    .query = "self_attn.q_proj.weight",
    .key = "self_attn.k_proj.weight",
    .value = "self_attn.v_proj.weight",
    .output = "self_attn.o_proj.weight",
    .feed_forward_norm = "post_attention_layernorm.weight",
    .gate = "mlp.gate_proj.weight",
    .up = "mlp.up_proj.weight",
    .down = "mlp.down_proj.weight"};
/// Rotations that old files hold, computed from the base. Their readers compute them again.
constexpr std::string_view kRotations = ".self_attn.rotary_emb.inv_freq";

const std::string& file_of(const Files& files, const std::string& name) {
  const auto place = files.find(name);
  if (place != files.end()) return place->second;
  std::vector<std::string> known;
  for (const auto& [file, path] : files) known.push_back(file);
  throw_unknown_name("file of a model", name, known);
}

std::string text_of(const Files& files, const std::string& name) {
  return read_file(file_of(files, name), kMostText);
}

std::string shown_file(const Files& files, const std::string& name) {
  return fmt::format("'{}'", printable(file_of(files, name)));
}

/// Shards by the tensors that an index says they hold.
std::map<std::string, std::string> shards_of(const Files& files) {
  const detail::JsonReader index(text_of(files, kIndex), shown_file(files, kIndex));
  auto shards = index.texts_by_name("weight_map");
  if (shards.empty()) index.fail("weight_map", "is missing or empty", "the file of each tensor");
  return shards;
}

SafetensorsWeights weights_of(const Files& files) {
  SafetensorsWeights weights;
  if (files.contains(kWeights) || !files.contains(kIndex)) {
    weights.open(file_of(files, kWeights));
    return weights;
  }
  const auto shards = shards_of(files);
  std::set<std::string> names;
  for (const auto& [tensor, shard] : shards) names.insert(shard);
  for (const std::string& name : names) weights.open(file_of(files, name));
  for (const auto& [tensor, shard] : shards) {
    if (weights.has_tensor(tensor)) continue;
    throw FormatError(fmt::format("{}: tensor '{}' is missing, expected it in {}",
                                  shown_file(files, kIndex), printable(tensor),
                                  shown_file(files, shard)));
  }
  return weights;
}

Network network_in(const Files& files, const detail::DecoderSizes& sizes,
                   const LanguageModelOptions& options) {
  const SafetensorsWeights file = weights_of(files);
  const std::string who = shown_file(files, kConfig);
  const std::vector<DecoderWeight> weights = detail::decoder_weights(sizes, kPublishedNames);
  std::vector<std::string_view> tensors = file.tensor_names();
  std::erase_if(tensors, [](std::string_view name) { return name.ends_with(kRotations); });
  detail::expect_known(tensors, weights, who);
  // Sizes that the files cannot have would take memory below.
  for (const DecoderWeight& weight : weights) file.expect_tensor(weight.tensor, weight.shape);
  return detail::decoder_of(sizes, options, weights, who,
                            [&](const DecoderWeight& weight, std::span<float> into) {
                              file.read(weight.tensor, weight.shape, into);
                            });
}

Files files_in(const std::string& folder) {
  std::error_code error;
  Files files;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    files[entry->path().filename().string()] = entry->path().string();
  }
  if (error) throw IoError(fmt::format("'{}': {}", printable(folder), error.message()));
  return files;
}

}  // namespace

LanguageModel open_safetensors(const std::map<std::string, std::string>& files,
                               const LanguageModelOptions& options) {
  auto [sizes, end_tokens] =
      detail::read_llama_config(text_of(files, kConfig), shown_file(files, kConfig));
  const auto tokenizer = tokenizers().at("bpe").make({{"file", file_of(files, kTokenizer)}});
  LanguageModel model{.network = network_in(files, sizes, options),
                      .tokenizer = tokenizer,
                      .end_tokens = std::move(end_tokens)};
  if (files.contains(kTemplate)) model.chat_template = text_of(files, kTemplate);
  return model;
}

LanguageModel open_safetensors(const std::string& folder, const LanguageModelOptions& options) {
  return open_safetensors(files_in(folder), options);
}

}  // namespace d5
