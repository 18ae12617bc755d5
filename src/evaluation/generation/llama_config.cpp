// SPDX-License-Identifier: Apache-2.0
// Source: transformers, models/llama/configuration_llama.py, for names and what is usual.
#include "evaluation/generation/llama_config.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/tokenizer/file_fields.hpp"

namespace d5::detail {
namespace {

constexpr const char* kModel = "LlamaForCausalLM";

/// Reads fields, of which null means that they are not given.
class ConfigReader {
 public:
  ConfigReader(const JsonReader& fields, std::string who) : fields_(fields), who_(std::move(who)) {}

  [[nodiscard]] bool has(const char* name) const { return has_value(fields_, name); }
  [[nodiscard]] JsonReader object(const char* name) const { return fields_.object(name); }

  [[nodiscard]] std::int64_t natural(const char* name, std::int64_t most,
                                     std::optional<std::int64_t> usual = {}) const {
    if (usual && !has(name)) return *usual;
    return fields_.whole(name, 1, double(most));
  }
  [[nodiscard]] double real(const char* name, double least, double usual) const {
    if (!has(name)) return usual;
    const double number = fields_.number(name);
    if (std::isfinite(number) && number >= least) return number;
    fields_.fail(name, fmt::format("is {}", number), fmt::format("a number from {} on", least));
  }
  [[nodiscard]] bool flag(const char* name, bool usual) const {
    return detail::flag(fields_, name, usual);
  }

  /// Throws: Unsupported unless the field is missing, or the text `expected`.
  void expect_text(const char* name, std::string_view expected) const {
    const auto given = text_or_none(fields_, name);
    if (given && *given != expected) refuse(name, "'" + printable(*given) + "'", expected);
  }
  void expect_false(const char* name) const {
    if (flag(name, false)) refuse(name, "true", "false");
  }
  void expect_none(const char* name) const {
    if (has(name)) refuse(name, "there", "null, or a model without it");
  }
  void expect_number(const char* name, double expected) const {
    if (!has(name)) return;
    const double given = fields_.number(name);
    if (given != expected) refuse(name, fmt::format("{}", given), fmt::format("{}", expected));
  }
  [[noreturn]] void refuse(const char* name, std::string_view given,
                           std::string_view expected) const {
    throw Unsupported(
        fmt::format("{}: {} is {}, expected {}: network decoder computes nothing else", who_, name,
                    given, expected));
  }

  /// Tokens in a field that is a number, a list or null.
  [[nodiscard]] std::vector<TokenId> tokens(const char* name, std::int64_t vocabulary) const {
    std::vector<TokenId> tokens;
    if (!has(name)) return tokens;
    if (fields_.field(name)->is_array()) {
      for (const double token : fields_.numbers(name)) {
        tokens.push_back(token_of(name, token, vocabulary));
      }
    } else {
      tokens.push_back(token_of(name, fields_.number(name), vocabulary));
    }
    return tokens;
  }

 private:
  [[nodiscard]] TokenId token_of(const char* name, double number, std::int64_t vocabulary) const {
    if (number >= 0 && number < double(vocabulary) && number == std::floor(number)) {
      return TokenId(number);
    }
    fields_.fail(name, fmt::format("is {}", number),
                 fmt::format("tokens of 0 to {}", vocabulary - 1));
  }

  const JsonReader& fields_;
  std::string who_;
};

void expect_architecture(const JsonReader& root, const ConfigReader& config) {
  if (!config.has("model_type")) root.fail("model_type", "is missing", "'llama'");
  config.expect_text("model_type", "llama");
  if (!config.has("architectures")) return;
  for (const std::string& name : root.texts("architectures")) {
    if (name != kModel) config.refuse("architectures", "'" + printable(name) + "'", kModel);
  }
}

/// Base of the rotations. Older files have it beside the scaling, newer ones within
/// "rope_parameters".
double rope_base(const ConfigReader& config, const std::string& who) {
  double base = config.real("rope_theta", 1, 10'000);
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (!config.has(name)) continue;
    const JsonReader object = config.object(name);
    const ConfigReader rope(object, fmt::format("{}: {}", who, name));
    if (!rope.has("rope_type") && !rope.has("type")) rope.refuse("rope_type", "missing", "default");
    for (const char* type : {"rope_type", "type"}) rope.expect_text(type, "default");
    rope.expect_number("partial_rotary_factor", 1);
    base = rope.real("rope_theta", 1, base);
  }
  return base;
}

}  // namespace

LlamaConfig read_llama_config(const std::string& text, const std::string& who) {
  const JsonReader root(text, who);
  const ConfigReader config(root, who);
  expect_architecture(root, config);
  config.expect_text("hidden_act", "silu");
  for (const char* name : {"attention_bias", "mlp_bias", "rope_interleaved"}) {
    config.expect_false(name);
  }
  for (const char* name : {"sliding_window", "quantization_config"}) config.expect_none(name);
  config.expect_number("partial_rotary_factor", 1);

  constexpr std::int64_t kMost = DecoderSizes::kMost;
  DecoderSizes sizes{.layers = config.natural("num_hidden_layers", DecoderSizes::kMostLayers),
                     .width = config.natural("hidden_size", kMost),
                     .heads = config.natural("num_attention_heads", kMost),
                     .hidden = config.natural("intermediate_size", kMost),
                     .vocabulary = config.natural("vocab_size", kMost),
                     .length = config.natural("max_position_embeddings", kMost, 2048),
                     .rope_base = rope_base(config, who),
                     .epsilon = config.real("rms_norm_eps", 0, 1e-6),
                     .tied = config.flag("tie_word_embeddings", false)};
  sizes.kv_heads = config.natural("num_key_value_heads", sizes.heads, sizes.heads);
  sizes.expect_heads(who);
  config.expect_number("head_dim", double(sizes.head_size()));
  return {.sizes = sizes, .end_tokens = config.tokens("eos_token_id", sizes.vocabulary)};
}

}  // namespace d5::detail
