// SPDX-License-Identifier: Apache-2.0
// A folder of a small Llama model as Hugging Face's transformers write it, with the weights of a
// drawn network.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/generation/safetensors_model.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/evaluation/generation/safetensors_writer.hpp"
#include "tests/level2_training/tokenizer/toy_tokenizer.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {

inline constexpr std::int64_t kFolderTokens = 256 + 2;  // bytes, one merge, one special token

/// The network that the folders below hold.
inline Network folder_network(bool tied = true) {
  return models().at("decoder").make({{"layers", 2},
                                      {"width", 16},
                                      {"heads", 4},
                                      {"kv_heads", 2},
                                      {"hidden", 8},
                                      {"vocabulary", kFolderTokens},
                                      {"capacity", 12},
                                      {"rope_base", 500.0},
                                      {"epsilon", 1e-6},
                                      {"tied", tied},
                                      {"seed", 4}});
}

/// Name in Hugging Face's Llama.
inline std::string published_name(std::string name) {
  if (name == "embedding.weight") return "model.embed_tokens.weight";
  if (name == "norm.scale") return "model.norm.weight";
  if (name == "head.weight") return "lm_head.weight";
  static const std::vector<std::pair<std::string, std::string>> kParts{
      {"attention.norm.scale", "input_layernorm.weight"},
      {"attention.query", "self_attn.q_proj"},
      {"attention.key", "self_attn.k_proj"},
      {"attention.value", "self_attn.v_proj"},
      {"attention.output", "self_attn.o_proj"},
      {"feed_forward.norm.scale", "post_attention_layernorm.weight"},
      {"feed_forward.gate", "mlp.gate_proj"},
      {"feed_forward.up", "mlp.up_proj"},
      {"feed_forward.down", "mlp.down_proj"},
      {"layer1.", "model.layers.0."},
      {"layer2.", "model.layers.1."}};
  for (const auto& [own, published] : kParts) {
    if (const auto at = name.find(own); at != std::string::npos) {
      name.replace(at, own.size(), published);
    }
  }
  return name;
}

/// Files of a folder, by name. Tests change them before they write them.
struct ToyFolder {
  nlohmann::json config{{"architectures", {"LlamaForCausalLM"}},
                        {"model_type", "llama"},
                        {"hidden_act", "silu"},
                        {"hidden_size", 16},
                        {"intermediate_size", 8},
                        {"num_hidden_layers", 2},
                        {"num_attention_heads", 4},
                        {"num_key_value_heads", 2},
                        {"max_position_embeddings", 64},
                        {"rms_norm_eps", 1e-6},
                        {"rope_theta", 500.0},
                        {"rope_scaling", nullptr},
                        {"attention_bias", false},
                        {"eos_token_id", 257},
                        {"tie_word_embeddings", true},
                        {"torch_dtype", "float32"},
                        {"vocab_size", kFolderTokens}};
  std::vector<SafetensorsWriter> shards = std::vector<SafetensorsWriter>(1);
  nlohmann::json map = nlohmann::json::object();  ///< files of the tensors

  explicit ToyFolder(bool tied = true, const std::string& type = "F32", std::size_t files = 1)
      : shards(files) {
    config["tie_word_embeddings"] = tied;
    Network network = folder_network(tied);
    std::size_t next = 0;
    for (const Parameter& parameter : network.parameters()) {
      const std::string name = published_name(parameter.name);
      const auto dims = parameter.value.shape().dims();
      const std::size_t shard = next++ % files;
      shards[shard].add_floats(name, {dims.begin(), dims.end()}, parameter.value.span<float>(),
                               type);
      map[name] = shard_name(shard);
    }
  }

  [[nodiscard]] static std::string shard_name(std::size_t shard) {
    return "model-0000" + std::to_string(shard + 1) + ".safetensors";
  }
  void write(const TemporaryFolder& folder) const {
    write_file(folder / "config.json", config.dump());
    write_file(folder / "tokenizer.json",
               toy_file({{"a", "b"}}, {toy_token("<|end|>", 257)}).dump());
    write_file(folder / "chat_template.jinja", "{{ messages }}");
    if (shards.size() == 1) {
      write_file(folder / "model.safetensors", shards[0].file());
      return;
    }
    for (std::size_t i = 0; i < shards.size(); ++i) {
      write_file(folder / shard_name(i), shards[i].file());
    }
    write_file(folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  }
  [[nodiscard]] LanguageModel open(const LanguageModelOptions& options = {.capacity = 12}) const {
    const TemporaryFolder folder;
    write(folder);
    return open_safetensors(folder.path().string(), options);
  }
};

}  // namespace d5::testing
