// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/safetensors_model.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "tests/evaluation/generation/safetensors_folder.hpp"
#include "tests/level2_training/python_script.hpp"

using namespace d5;
using nlohmann::json;
using testing::folder_network;
using testing::ToyFolder;

namespace {

ToyFolder with(const char* field, const json& value) {
  ToyFolder folder;
  folder.config[field] = value;
  return folder;
}

std::vector<float> scores_of_folder(const Network& network) {
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

TEST_CASE("a folder's network scores as the network that was written, to the bit") {
  const bool tied = GENERATE(true, false);
  const std::size_t files = GENERATE(1, 3);
  const LanguageModel model = ToyFolder(tied, "F32", files).open();
  CHECK(scores_of_folder(model.network) == scores_of_folder(folder_network(tied)));
  CHECK(model.end_tokens == std::vector<TokenId>{257});
  CHECK(model.chat_template == "{{ messages }}");
  CHECK(model.tokenizer->encode("cab<|end|>") == std::vector<TokenId>{'c', 256, 257});
}

TEST_CASE("weights of 16 bits become the float32 numbers that they are") {
  const std::string type = GENERATE("F16", "BF16");
  Network rounded = folder_network();
  for (Parameter& parameter : rounded.parameters()) {
    for (float& weight : parameter.value.span<float>()) {
      weight = type == "F16" ? float(Float16(weight)) : float(BFloat16(weight));
    }
  }
  const auto scores = scores_of_folder(ToyFolder(true, type).open().network);
  CHECK(scores == scores_of_folder(rounded));
  CHECK(scores != scores_of_folder(folder_network()));
}

TEST_CASE("files of a store are found by the names that they have in a folder") {
  const testing::TemporaryFolder folder;
  ToyFolder().write(folder);
  std::map<std::string, std::string> files;
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    files[name] = folder / ("stored-" + std::string(name));
    std::filesystem::rename(folder / name, files[name]);
  }
  CHECK(scores_of_folder(open_safetensors(files, {.capacity = 12}).network) ==
        scores_of_folder(folder_network()));
  files.erase("tokenizer.json");
  CHECK_THROWS_WITH(open_safetensors(files), Catch::Contains("tokenizer.json"));
}

TEST_CASE("a newer config has the rotations in an object of their own") {
  ToyFolder folder = with("rope_parameters", {{"rope_type", "default"}, {"rope_theta", 500.0}});
  folder.config.erase("rope_theta");
  CHECK(scores_of_folder(folder.open().network) == scores_of_folder(folder_network()));
}

TEST_CASE("rotations that an old file holds are those of the base, and are left out") {
  ToyFolder folder;
  folder.shards[0].add_floats("model.layers.0.self_attn.rotary_emb.inv_freq", {2},
                              std::vector<float>{1, 0.04F});
  CHECK(scores_of_folder(folder.open().network) == scores_of_folder(folder_network()));
}

TEST_CASE("models of safetensors that compute something else are refused, by name") {
  const auto refused = [](const ToyFolder& folder, const char* name, const char* given) {
    CHECK_THROWS_AS(folder.open(), Unsupported);
    CHECK_THROWS_WITH(folder.open(), Catch::Contains(name) && Catch::Contains(given));
  };
  refused(with("model_type", "mistral"), "model_type", "'mistral'");
  refused(with("architectures", {"LlamaForSequenceClassification"}), "architectures",
          "'LlamaForSequenceClassification'");
  refused(with("rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}), "rope_scaling",
          "'llama3'");
  refused(with("rope_scaling", {{"type", "linear"}, {"factor", 2.0}}), "rope_scaling", "'linear'");
  refused(with("rope_parameters", {{"rope_type", "yarn"}}), "rope_parameters", "'yarn'");
  refused(with("attention_bias", true), "attention_bias", "true");
  refused(with("mlp_bias", true), "mlp_bias", "true");
  refused(with("hidden_act", "gelu"), "hidden_act", "'gelu'");
  refused(with("sliding_window", 4096), "sliding_window", "there");
  refused(with("quantization_config", {{"bits", 4}}), "quantization_config", "there");
  refused(with("head_dim", 8), "head_dim", "8");
  refused(with("partial_rotary_factor", 0.5), "partial_rotary_factor", "0.5");
  ToyFolder biased;
  biased.shards[0].add_floats("model.layers.0.self_attn.q_proj.bias", {16}, std::vector<float>(16));
  refused(biased, "model.layers.0.self_attn.q_proj.bias", "no such weight");
}

TEST_CASE("a config that contradicts itself or the tensors is refused before memory is taken") {
  const auto refused = [](const ToyFolder& folder, const char* name) {
    CHECK_THROWS_AS(folder.open(), FormatError);
    CHECK_THROWS_WITH(folder.open(), Catch::Contains(name));
  };
  refused(with("intermediate_size", 2'000'000'000), "mlp.up_proj");
  refused(with("vocab_size", 2'000'000'000), "embed_tokens");
  refused(with("num_hidden_layers", 3), "model.layers.2.");
  refused(with("num_hidden_layers", 1e9), "num_hidden_layers");
  refused(with("num_attention_heads", 3), "3 heads");
  refused(with("num_key_value_heads", 3), "3 of keys");
  refused(with("hidden_size", -16), "hidden_size");
  refused(with("hidden_size", "wide"), "hidden_size");
  refused(with("rms_norm_eps", -1), "rms_norm_eps");
  refused(with("rope_theta", 0), "rope_theta");
  refused(with("eos_token_id", {257, 258}), "eos_token_id");
  refused(with("model_type", nullptr), "model_type");
  CHECK_THROWS_WITH(ToyFolder().open({.capacity = 65}), Catch::Contains("1 to 64"));
}

TEST_CASE("an index that names other files or tensors than there are is refused") {
  ToyFolder folder(true, "F32", 2);
  folder.map["model.norm.weight"] = "../secret.safetensors";
  CHECK_THROWS_AS(folder.open(), NotFound);
  folder.map["model.norm.weight"] = ToyFolder::shard_name(0);
  folder.map["model.other.weight"] = ToyFolder::shard_name(1);
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("'model.other.weight' is missing"));
  CHECK_THROWS_AS(open_safetensors("no such folder"), IoError);
}

TEST_CASE("scores are those that PyTorch computes from the same folder") {
  const testing::TemporaryFolder folder;
  if (!test::run_script("../evaluation/generation/llama_judge.py", folder.path().string())) return;
  const json truth = json::parse(read_file(folder / "truth.json"));
  const LanguageModel model = open_safetensors(folder.path().string(), {.capacity = 24});
  const auto tokens = truth.at("tokens").get<std::vector<std::int64_t>>();
  const auto expected = truth.at("logits").get<std::vector<double>>();
  const auto length = std::int64_t(tokens.size());
  Tensor places = Tensor::empty(DType::int64, {1, length, 1});
  for (std::int64_t i = 0; i < length; ++i) places.data<std::int64_t>()[i] = i;
  const auto executor = make_executor(model.network);
  const Tensor logits = executor
                            ->inference({{"tokens", Tensor::of<std::int64_t>({1, length}, tokens)},
                                         {"starts", Tensor::vector<std::int64_t>({0})},
                                         {"places", places}})
                            .at("logits")
                            .tensor();
  REQUIRE(std::size_t(logits.elements()) == expected.size());
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(double(logits.span<float>()[i]) - expected[i]));
  }
  CAPTURE(largest, difference);
  CHECK(largest > 1);  // scores that could tell models apart
  // Float32 against float64 over 2 layers of sums of 48 products: some 20 roundings of the largest.
  CHECK(difference < 20 * double(std::numeric_limits<float>::epsilon()) * largest);
}
