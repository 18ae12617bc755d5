// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/gguf_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "evaluation/generation/decoder_weights.hpp"
#include "evaluation/generation/gguf_file.hpp"
#include "evaluation/generation/gguf_tokenizer.hpp"

namespace d5 {
namespace {

using detail::DecoderSizes;
using detail::DecoderWeight;
using detail::GgufFile;

constexpr detail::DecoderNames kGgufNames{.embedding = "token_embd.weight",
                                          .norm = "output_norm.weight",
                                          .head = "output.weight",
                                          .layer = "blk.{}.",
                                          .attention_norm = "attn_norm.weight",
                                          .query = "attn_q.weight",
                                          .key = "attn_k.weight",
                                          .value = "attn_v.weight",
                                          .output = "attn_output.weight",
                                          .feed_forward_norm = "ffn_norm.weight",
                                          .gate = "ffn_gate.weight",
                                          .up = "ffn_up.weight",
                                          .down = "ffn_down.weight"};

[[noreturn]] void refuse(const GgufFile& file, const std::string& what, const std::string& given,
                         const std::string& expected) {
  throw Unsupported(fmt::format("{}: {} is {}, expected {}", file.who(), what, given, expected));
}

/// Refuses models that compute something else than `decoder`.
void expect_decoder(const GgufFile& file) {
  const auto architecture = std::string(file.text("general.architecture"));
  if (architecture != "llama") {
    refuse(file, "general.architecture", "'" + printable(architecture) + "'", "'llama'");
  }
  for (const char* key : {"llama.rope.scaling.type", "llama.rope.scaling.factor",
                          "llama.expert_count", "llama.attention.sliding_window"}) {
    if (file.has(key)) refuse(file, key, "there", "a model without it");
  }
}

DecoderSizes sizes_of(const GgufFile& file) {
  constexpr std::int64_t kMost = DecoderSizes::kMost;
  DecoderSizes sizes{.layers = file.natural("llama.block_count", 0, DecoderSizes::kMostLayers),
                     .width = file.natural("llama.embedding_length", 2, kMost),
                     .heads = file.natural("llama.attention.head_count", 1, kMost),
                     .hidden = file.natural("llama.feed_forward_length", 1, kMost),
                     .vocabulary = std::int64_t(file.texts("tokenizer.ggml.tokens").size()),
                     .length = file.natural("llama.context_length", 1, kMost),
                     .epsilon = file.real("llama.attention.layer_norm_rms_epsilon"),
                     .tied = !file.has_tensor(kGgufNames.head)};
  sizes.kv_heads = file.has("llama.attention.head_count_kv")
                       ? file.natural("llama.attention.head_count_kv", 1, sizes.heads)
                       : sizes.heads;
  if (file.has("llama.rope.freq_base")) sizes.rope_base = file.real("llama.rope.freq_base");
  sizes.expect_heads(file.who());
  for (const char* key : {"llama.rope.dimension_count", "llama.attention.key_length",
                          "llama.attention.value_length"}) {
    if (!file.has(key)) continue;
    const std::int64_t given = file.natural(key, 1, kMost);
    if (given != sizes.head_size()) {
      refuse(file, key, std::to_string(given), std::to_string(sizes.head_size()));
    }
  }
  return sizes;
}

/// The file has the two elements of each rotated pair side by side, the network all first ones
/// before all second ones. Shapes: `heads` matrices of size x columns.
void bring_to_halves(std::span<float> weights, std::int64_t heads, std::int64_t columns) {
  const std::int64_t size = std::int64_t(weights.size()) / heads / columns, pairs = size / 2;
  std::vector<float> head(std::size_t(size * columns));
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto own = weights.subspan(std::size_t(h) * head.size(), head.size());
    std::ranges::copy(own, head.begin());
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t to = k % 2 * pairs + k / 2;
      std::copy_n(head.begin() + k * columns, columns, own.begin() + to * columns);
    }
  }
}

Network network_of(const GgufFile& file, const LanguageModelOptions& options) {
  expect_decoder(file);
  const DecoderSizes sizes = sizes_of(file);
  const std::vector<DecoderWeight> weights = detail::decoder_weights(sizes, kGgufNames);
  detail::expect_known(file.tensor_names(), weights, file.who());
  // Sizes that the file cannot have would take memory below.
  for (const DecoderWeight& weight : weights) file.expect_tensor(weight.tensor, weight.shape);
  return detail::decoder_of(sizes, options, weights, file.who(),
                            [&](const DecoderWeight& weight, std::span<float> into) {
                              file.read(weight.tensor, weight.shape, into);
                              if (weight.rotated_heads > 0)
                                bring_to_halves(into, weight.rotated_heads, weight.shape[1]);
                            });
}

}  // namespace

LanguageModel open_gguf(const std::string& path, const LanguageModelOptions& options) {
  const GgufFile file(path);
  LanguageModel model{.network = network_of(file, options),
                      .tokenizer = detail::gguf_tokenizer(file)};
  if (file.has("tokenizer.ggml.eos_token_id")) {
    const auto last = std::int64_t(file.texts("tokenizer.ggml.tokens").size()) - 1;
    model.end_tokens = {file.natural("tokenizer.ggml.eos_token_id", 0, last)};
  }
  if (file.has("tokenizer.chat_template")) {
    model.chat_template = file.text("tokenizer.chat_template");
  }
  return model;
}

}  // namespace d5
