// SPDX-License-Identifier: Apache-2.0
// Safetensors files and configs of models that are damaged: refused, or every weight is read to its
// end.
#include <nlohmann/json.hpp>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "evaluation/generation/llama_config.hpp"
#include "evaluation/generation/safetensors_weights.hpp"
#include "evaluation/generation/safetensors_writer.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"
#include "level2_training/data/storage/safetensors.hpp"

namespace d5::fuzz {
namespace {

std::string some_config(RandomStream& random) {
  const nlohmann::json config{{"model_type", "llama"},
                              {"hidden_size", 32},
                              {"intermediate_size", 48},
                              {"num_hidden_layers", 2},
                              {"num_attention_heads", 4},
                              {"num_key_value_heads", 2},
                              {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e4}}},
                              {"eos_token_id", {1, 2}},
                              {"vocab_size", 256}};
  return with_other_values(config.dump(), random);
}

}  // namespace

std::string name() { return "safetensors"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  if (one_in(random, 3)) return some_config(random);
  testing::SafetensorsWriter writer;
  writer.add_floats("x", {2, 4}, std::vector<float>(8, 1.0F));
  writer.add_floats("half", {3}, std::vector<float>(3, 2.0F), "F16");
  writer.add_floats("brain", {1, 5}, std::vector<float>(5, 3.0F), "BF16");
  const std::string file = writer.file();
  constexpr std::size_t kPrefix = 8;
  const std::string header = writer.header.dump();
  switch (random.below(4)) {
    case 0:
      return with_flipped_bit(file, random);
    case 1:
      return with_damage(file, random);
    case 2:
      return file.substr(0, kPrefix) + with_other_number(header, random) + writer.data;
    default: {  // a length that is right, so that the header is read
      const std::string other = with_other_values(header, random);
      const auto length = std::uint64_t(other.size());
      return std::string(reinterpret_cast<const char*>(&length), kPrefix) + other + writer.data;
    }
  }
}

std::string run_case(const std::string& bytes) {
  if (bytes.starts_with('{')) {
    const auto config = detail::read_llama_config(bytes, "'fuzz'");
    config.sizes.expect_heads("'fuzz'");
    return {};
  }
  detail::SafetensorsWeights weights;
  weights.add(bytes, "'fuzz'");
  const auto content =
      detail::read_safetensors(detail::split_safetensors(bytes, "'fuzz'", "file"), "'fuzz'");
  for (const auto& tensor : content.tensors) {
    std::vector<float> numbers(std::size_t(tensor.desc.shape.elements()));
    weights.read(tensor.name, tensor.desc.shape, numbers);
  }
  return {};
}

}  // namespace d5::fuzz
