// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "d5/level1_network/source/models.hpp"
#include "tests/evaluation/generation/gguf_writer.hpp"
#include "tests/level2_training/tokenizer/toy_tokenizer.hpp"

namespace d5::testing {

inline constexpr std::int64_t kToyTokens = 256 + 2;  // bytes, one merge, one special token

/// The network that the files below hold.
inline Network written_network(bool tied = true) {
  return models().at("decoder").make({{"layers", 1},
                                      {"width", 16},
                                      {"heads", 2},
                                      {"kv_heads", 1},
                                      {"hidden", 8},
                                      {"vocabulary", kToyTokens},
                                      {"capacity", 12},
                                      {"rope_base", 500.0},
                                      {"tied", tied},
                                      {"seed", 4}});
}

/// Rows of each head as llama.cpp's converter writes them: the two elements that are rotated
/// together side by side.
inline std::vector<float> side_by_side(const std::vector<float>& weights, std::size_t heads,
                                       std::size_t columns) {
  const std::size_t size = weights.size() / heads / columns;
  std::vector<float> result;
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t k = 0; k < size / 2; ++k) {
      for (const std::size_t row : {h * size + k, h * size + size / 2 + k}) {
        result.insert(result.end(), weights.begin() + std::ptrdiff_t(row * columns),
                      weights.begin() + std::ptrdiff_t((row + 1) * columns));
      }
    }
  }
  return result;
}

/// A GGUF file of one layer, with a tokenizer of bytes, a merge and a special token.
struct ToyFile {
  using Change = std::function<void(GgufWriter&)>;
  const char* architecture = "llama";
  const char* pattern = "gpt-2";
  std::uint32_t hidden = 8;
  bool tied = true;
  Change more = [](GgufWriter&) {};
  bool missing_byte = false;  ///< byte 4 has no token
  std::uint32_t length = 64;
  float scale = 1;          ///< factor of all weights but those of norms
  std::uint32_t end = 257;  ///< token that ends an answer

  [[nodiscard]] std::string bytes() const {
    GgufWriter writer;
    write_metadata(writer);
    write_tensors(writer);
    more(writer);
    return writer.file();
  }

 private:
  void write_metadata(GgufWriter& writer) const {
    writer.set("general.architecture", architecture);
    writer.set("llama.block_count", std::uint32_t(1));
    writer.set("llama.embedding_length", std::uint32_t(16));
    writer.set("llama.attention.head_count", std::uint32_t(2));
    writer.set("llama.attention.head_count_kv", std::uint32_t(1));
    writer.set("llama.feed_forward_length", hidden);
    writer.set("llama.context_length", length);
    writer.set("llama.rope.freq_base", 500.0F);
    writer.set("llama.rope.dimension_count", std::uint32_t(8));
    writer.set("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.push_back(letter_of(byte));
    if (missing_byte) tokens[4] = "xyz";
    tokens.emplace_back("ab");
    tokens.emplace_back("<|end|>");
    std::vector<std::int32_t> kinds(tokens.size(), 1);
    kinds.back() = 3;
    writer.set("tokenizer.ggml.model", "gpt2");
    writer.set("tokenizer.ggml.pre", pattern);
    writer.set("tokenizer.ggml.tokens", tokens);
    writer.set("tokenizer.ggml.token_type", kinds);
    writer.set("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
    writer.set("tokenizer.ggml.eos_token_id", end);
    writer.set("tokenizer.chat_template", "{{ messages }}");
  }
  void write_tensors(GgufWriter& writer) const {
    Network network = written_network(tied);
    const std::map<std::string, std::string> names{
        {"embedding.weight", "token_embd.weight"},
        {"norm.scale", "output_norm.weight"},
        {"head.weight", "output.weight"},
        {"layer1.attention.norm.scale", "blk.0.attn_norm.weight"},
        {"layer1.attention.query.weight", "blk.0.attn_q.weight"},
        {"layer1.attention.key.weight", "blk.0.attn_k.weight"},
        {"layer1.attention.value.weight", "blk.0.attn_v.weight"},
        {"layer1.attention.output.weight", "blk.0.attn_output.weight"},
        {"layer1.feed_forward.norm.scale", "blk.0.ffn_norm.weight"},
        {"layer1.feed_forward.gate.weight", "blk.0.ffn_gate.weight"},
        {"layer1.feed_forward.up.weight", "blk.0.ffn_up.weight"},
        {"layer1.feed_forward.down.weight", "blk.0.ffn_down.weight"}};
    for (const Parameter& parameter : network.parameters()) {
      const Shape& shape = parameter.value.shape();
      std::vector<std::uint64_t> sizes;
      for (std::size_t d = shape.rank(); d > 0; --d) sizes.push_back(std::uint64_t(shape[d - 1]));
      const auto span = parameter.value.span<float>();
      std::vector<float> weights(span.begin(), span.end());
      if (parameter.name.ends_with(".weight")) {
        for (float& weight : weights) weight *= scale;
      }
      if (parameter.name.ends_with("query.weight")) weights = side_by_side(weights, 2, 16);
      if (parameter.name.ends_with("key.weight")) weights = side_by_side(weights, 1, 16);
      writer.add_floats(names.at(parameter.name), sizes, weights);
    }
  }
};

}  // namespace d5::testing
