// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/gguf_model.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/evaluation/generation/gguf_writer.hpp"
#include "tests/level2_training/tokenizer/toy_tokenizer.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using testing::GgufWriter;

namespace {

constexpr std::int64_t kTokens = 256 + 2;  // bytes, one merge, one special token

/// The network that the files below hold.
Network written_network(bool tied = true) {
  return models().at("decoder").make({{"layers", 1},
                                      {"width", 16},
                                      {"heads", 2},
                                      {"kv_heads", 1},
                                      {"hidden", 8},
                                      {"vocabulary", kTokens},
                                      {"capacity", 12},
                                      {"rope_base", 500.0},
                                      {"tied", tied},
                                      {"seed", 4}});
}

/// Rows of each head as llama.cpp's converter writes them: the two elements that are rotated
/// together side by side.
std::vector<float> side_by_side(const std::vector<float>& weights, std::size_t heads,
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

using Change = std::function<void(GgufWriter&)>;

struct ToyFile {
  const char* architecture = "llama";
  const char* pattern = "gpt-2";
  std::uint32_t hidden = 8;
  bool tied = true;
  Change more = [](GgufWriter&) {};
  bool missing_byte = false;  ///< byte 4 has no token

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
    writer.set("llama.context_length", std::uint32_t(64));
    writer.set("llama.rope.freq_base", 500.0F);
    writer.set("llama.rope.dimension_count", std::uint32_t(8));
    writer.set("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.push_back(testing::letter_of(byte));
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
    writer.set("tokenizer.ggml.eos_token_id", std::uint32_t(257));
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
      if (parameter.name.ends_with("query.weight")) weights = side_by_side(weights, 2, 16);
      if (parameter.name.ends_with("key.weight")) weights = side_by_side(weights, 1, 16);
      writer.add_floats(names.at(parameter.name), sizes, weights);
    }
  }
};

LanguageModel open_bytes(const std::string& bytes,
                         const LanguageModelOptions& options = {.capacity = 12}) {
  const testing::TemporaryFolder folder;
  write_file(folder / "toy.gguf", bytes);
  return open_gguf(folder / "toy.gguf", options);
}

std::vector<float> scores_on_text(const Network& network) {
  const auto executor = make_executor(network);
  const Tensor logits =
      executor
          ->inference({{"tokens", Tensor::of<std::int64_t>({1, 4}, {9, 200, 3, 44})},
                       {"starts", Tensor::vector<std::int64_t>({0})},
                       {"places", Tensor::of<std::int64_t>({1, 1, 1}, {3})}})
          .at("logits")
          .tensor();
  return {logits.span<float>().begin(), logits.span<float>().end()};
}

}  // namespace

TEST_CASE("a file's network scores as the network that was written, to the bit") {
  const bool tied = GENERATE(true, false);
  const LanguageModel model = open_bytes(ToyFile{.tied = tied}.bytes());
  CHECK(scores_on_text(model.network) == scores_on_text(written_network(tied)));
  CHECK(model.end_tokens == std::vector<TokenId>{257});
  CHECK(model.chat_template == "{{ messages }}");
}

TEST_CASE("a file's tokenizer merges, and knows its control tokens") {
  const LanguageModel model = open_bytes(ToyFile().bytes());
  CHECK(model.tokenizer->vocabulary_size() == kTokens);
  CHECK(model.tokenizer->encode("cab<|end|>") == std::vector<TokenId>{'c', 256, 257});
  CHECK(model.tokenizer->decode(std::vector<TokenId>{256, 'z'}) == "abz");
}

TEST_CASE("a byte without a token becomes the file's unknown token, or the file is refused") {
  const auto without_byte = [](const Change& more) {
    ToyFile file{.more = more};
    file.missing_byte = true;
    return file.bytes();
  };
  CHECK_THROWS_WITH(open_bytes(without_byte([](GgufWriter&) {})), Catch::Contains("byte 0x04"));
  const LanguageModel model = open_bytes(without_byte([](GgufWriter& writer) {
    writer.set("tokenizer.ggml.unknown_token_id", std::uint32_t(257));
  }));
  CHECK(model.tokenizer->encode("a\x04") == std::vector<TokenId>{'a', 257});
}

TEST_CASE("slots and capacity are the caller's, within the model's own length") {
  const LanguageModel model = open_bytes(ToyFile().bytes(), {.slots = 3, .capacity = 64});
  CHECK(model.network.fetch("layer1.attention.key_cache").shape() == Shape{3, 64, 8});
  CHECK_THROWS_WITH(open_bytes(ToyFile().bytes(), {.capacity = 65}), Catch::Contains("1 to 64"));
}

TEST_CASE("models that compute something else are refused, by name") {
  CHECK_THROWS_WITH(open_bytes(ToyFile{.architecture = "gemma"}.bytes()),
                    Catch::Contains("'gemma'") && Catch::Contains("'llama'"));
  CHECK_THROWS_WITH(open_bytes(ToyFile{.pattern = "falcon"}.bytes()), Catch::Contains("'falcon'"));
  CHECK_THROWS_WITH(open_bytes(ToyFile{
                        .more =
                            [](GgufWriter& writer) {
                              writer.add_floats("rope_freqs.weight", {4}, {1, 1, 1, 1});
                            }}.bytes()),
                    Catch::Contains("rope_freqs.weight"));
  CHECK_THROWS_WITH(open_bytes(ToyFile{
                        .more =
                            [](GgufWriter& writer) {
                              writer.set("llama.rope.scaling.factor", 8.0F);
                            }}.bytes()),
                    Catch::Contains("llama.rope.scaling.factor"));
}

TEST_CASE("metadata that contradicts the tensors is refused before memory is taken") {
  CHECK_THROWS_WITH(open_bytes(ToyFile{.hidden = 2'000'000'000}.bytes()),
                    Catch::Contains("blk.0.ffn_up.weight") && Catch::Contains("2000000000"));
  CHECK_THROWS_AS(open_bytes(ToyFile().bytes().substr(0, 5000)), FormatError);
  CHECK_THROWS_AS(open_gguf("no such file.gguf"), IoError);
}
