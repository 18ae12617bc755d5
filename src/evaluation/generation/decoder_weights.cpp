// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/decoder_weights.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/models.hpp"

namespace d5::detail {

void DecoderSizes::expect_heads(const std::string& who) const {
  if (width % (2 * heads) == 0 && heads % kv_heads == 0) return;
  throw FormatError(
      fmt::format("{}: a token's vector has {} elements for {} heads, {} of keys; expected an even "
                  "multiple of heads, and heads a multiple of those of keys",
                  who, width, heads, kv_heads));
}

std::vector<DecoderWeight> decoder_weights(const DecoderSizes& sizes, const DecoderNames& names) {
  const std::int64_t width = sizes.width, kv_width = sizes.kv_heads * sizes.head_size();
  std::vector<DecoderWeight> weights{
      {"embedding.weight", names.embedding, {sizes.vocabulary, width}},
      {"norm.scale", names.norm, {width}}};
  if (!sizes.tied) weights.push_back({"head.weight", names.head, {sizes.vocabulary, width}});
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string layer = fmt::format("layer{}.", i + 1);
    const std::string before = fmt::format(fmt::runtime(names.layer), i);
    const auto add = [&](const char* parameter, const char* tensor, Shape shape,
                         std::int64_t rotated_heads = 0) {
      weights.push_back({layer + parameter, before + tensor, std::move(shape), rotated_heads});
    };
    add("attention.norm.scale", names.attention_norm, {width});
    add("attention.query.weight", names.query, {width, width}, sizes.heads);
    add("attention.key.weight", names.key, {kv_width, width}, sizes.kv_heads);
    add("attention.value.weight", names.value, {kv_width, width});
    add("attention.output.weight", names.output, {width, width});
    add("feed_forward.norm.scale", names.feed_forward_norm, {width});
    add("feed_forward.up.weight", names.up, {sizes.hidden, width});
    add("feed_forward.gate.weight", names.gate, {sizes.hidden, width});
    add("feed_forward.down.weight", names.down, {width, sizes.hidden});
  }
  return weights;
}

void expect_known(const std::vector<std::string_view>& tensors,
                  const std::vector<DecoderWeight>& weights, const std::string& who) {
  std::set<std::string, std::less<>> known;
  for (const DecoderWeight& weight : weights) known.insert(weight.tensor);
  for (const std::string_view tensor : tensors) {
    if (known.contains(tensor)) continue;
    throw Unsupported(fmt::format(
        "{}: tensor '{}' is there, expected a model without it: network decoder has no such weight",
        who, printable(std::string(tensor))));
  }
}

Network decoder_of(
    const DecoderSizes& sizes, const LanguageModelOptions& options,
    const std::vector<DecoderWeight>& weights, const std::string& who,
    const std::function<void(const DecoderWeight& weight, std::span<float> into)>& read) {
  if (options.capacity < 1 || options.capacity > sizes.length) {
    throw ValueError(fmt::format("{}: capacity is {}, expected 1 to {}, the model's own length",
                                 who, options.capacity, sizes.length));
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
  for (const DecoderWeight& weight : weights) {
    read(weight, values.at(weight.parameter).span<float>());
  }
  network.values_changed();
  return network;
}

}  // namespace d5::detail
