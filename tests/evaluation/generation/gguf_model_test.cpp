// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/gguf_model.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "tests/evaluation/generation/toy_gguf.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using testing::GgufWriter;
using testing::ToyFile;
using testing::written_network;

namespace {

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
  CHECK(model.tokenizer->vocabulary_size() == testing::kToyTokens);
  CHECK(model.tokenizer->encode("cab<|end|>") == std::vector<TokenId>{'c', 256, 257});
  CHECK(model.tokenizer->decode(std::vector<TokenId>{256, 'z'}) == "abz");
}

TEST_CASE("a byte without a token becomes the file's unknown token, or is left out") {
  const auto without_byte = [](const ToyFile::Change& more) {
    ToyFile file{.more = more};
    file.missing_byte = true;
    return file.bytes();
  };
  const LanguageModel none = open_bytes(without_byte([](GgufWriter&) {}));
  CHECK(none.tokenizer->encode("a\x04") == std::vector<TokenId>{'a'});  // as llama.cpp
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
