// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/gguf_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/models.hpp"
#include "evaluation/generation/gguf_file.hpp"
#include "evaluation/generation/gguf_tokenizer.hpp"

namespace d5 {
namespace {

using detail::GgufFile;

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

/// Sizes of the network, from the metadata.
struct LlamaSizes {
  std::int64_t layers, width, heads, kv_heads, hidden, vocabulary, length;
  double rope_base = 10'000, epsilon = 1e-5;
  bool tied = true;

  explicit LlamaSizes(const GgufFile& file)
      : layers(file.natural("llama.block_count", 0, 1024)),
        width(file.natural("llama.embedding_length", 2, kMost)),
        heads(file.natural("llama.attention.head_count", 1, width)),
        kv_heads(file.has("llama.attention.head_count_kv")
                     ? file.natural("llama.attention.head_count_kv", 1, heads)
                     : heads),
        hidden(file.natural("llama.feed_forward_length", 1, kMost)),
        vocabulary(std::int64_t(file.texts("tokenizer.ggml.tokens").size())),
        length(file.natural("llama.context_length", 1, kMost)),
        epsilon(file.real("llama.attention.layer_norm_rms_epsilon")),
        tied(!file.has_tensor("output.weight")) {
    if (file.has("llama.rope.freq_base")) rope_base = file.real("llama.rope.freq_base");
  }
};

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

void expect_head_size(const GgufFile& file, const LlamaSizes& sizes) {
  if (sizes.width % (2 * sizes.heads) != 0 || sizes.heads % sizes.kv_heads != 0) {
    throw FormatError(fmt::format(
        "{}: llama.embedding_length is {} with {} heads, {} of keys; expected an even multiple of "
        "heads, and heads a multiple of those of keys",
        file.who(), sizes.width, sizes.heads, sizes.kv_heads));
  }
  const std::int64_t size = sizes.width / sizes.heads;
  for (const char* key : {"llama.rope.dimension_count", "llama.attention.key_length",
                          "llama.attention.value_length"}) {
    if (!file.has(key)) continue;
    const std::int64_t given = file.natural(key, 1, kMost);
    if (given != size) refuse(file, key, std::to_string(given), std::to_string(size));
  }
}

/// A parameter of the network and the tensor that it is in the file.
struct Pair {
  std::string parameter, tensor;
  std::int64_t rotated_heads = 0;  ///< heads whose rows the file has in another order
};

std::vector<Pair> pairs_of(const LlamaSizes& sizes) {
  std::vector<Pair> pairs{{"embedding.weight", "token_embd.weight"},
                          {"norm.scale", "output_norm.weight"}};
  if (!sizes.tied) pairs.push_back({"head.weight", "output.weight"});
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string layer = fmt::format("layer{}.", i + 1), block = fmt::format("blk.{}.", i);
    const auto add = [&](const char* parameter, const char* tensor, std::int64_t heads = 0) {
      pairs.push_back({layer + parameter, block + tensor + ".weight", heads});
    };
    add("attention.norm.scale", "attn_norm");
    add("attention.query.weight", "attn_q", sizes.heads);
    add("attention.key.weight", "attn_k", sizes.kv_heads);
    add("attention.value.weight", "attn_v");
    add("attention.output.weight", "attn_output");
    add("feed_forward.norm.scale", "ffn_norm");
    add("feed_forward.gate.weight", "ffn_gate");
    add("feed_forward.up.weight", "ffn_up");
    add("feed_forward.down.weight", "ffn_down");
  }
  return pairs;
}

void expect_tensors(const GgufFile& file, const std::vector<Pair>& pairs) {
  std::set<std::string, std::less<>> known;
  for (const Pair& pair : pairs) known.insert(pair.tensor);
  for (const std::string_view name : file.tensor_names()) {
    if (known.contains(name)) continue;
    refuse(file, "tensor '" + printable(std::string(name)) + "'", "there",
           "a model without it: network decoder has no such weight");
  }
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

Network network_of(const GgufFile& file, const GgufOptions& options) {
  expect_decoder(file);
  const LlamaSizes sizes(file);
  expect_head_size(file, sizes);
  const std::vector<Pair> pairs = pairs_of(sizes);
  expect_tensors(file, pairs);
  // Sizes that the file cannot have would take memory below.
  file.expect_tensor("token_embd.weight", {sizes.vocabulary, sizes.width});
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    file.expect_tensor(fmt::format("blk.{}.ffn_up.weight", i), {sizes.hidden, sizes.width});
  }
  if (options.capacity < 1 || options.capacity > sizes.length) {
    throw ValueError(fmt::format("{}: capacity is {}, expected 1 to {}, the model's own length",
                                 file.who(), options.capacity, sizes.length));
  }
  Network network = models().at("decoder").make({{"layers", sizes.layers},
                                                 {"width", sizes.width},
                                                 {"heads", sizes.heads},
                                                 {"kv_heads", sizes.kv_heads},
                                                 {"hidden", sizes.hidden},
                                                 {"vocabulary", sizes.vocabulary},
                                                 {"capacity", options.capacity},
                                                 {"slots", options.slots},
                                                 {"rope_base", sizes.rope_base},
                                                 {"epsilon", sizes.epsilon},
                                                 {"tied", sizes.tied},
                                                 {"drawn", false}});
  std::map<std::string, Tensor, std::less<>> values;
  for (Parameter& parameter : network.parameters()) values.emplace(parameter.name, parameter.value);
  for (const Pair& pair : pairs) {
    Tensor& value = values.at(pair.parameter);
    file.read(pair.tensor, value.shape(), value.span<float>());
    if (pair.rotated_heads > 0) {
      bring_to_halves(value.span<float>(), pair.rotated_heads, value.shape()[1]);
    }
  }
  network.values_changed();
  return network;
}

}  // namespace

GgufModel open_gguf(const std::string& path, const GgufOptions& options) {
  const GgufFile file(path);
  GgufModel model{.network = network_of(file, options), .tokenizer = detail::gguf_tokenizer(file)};
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
