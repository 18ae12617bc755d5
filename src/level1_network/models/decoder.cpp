// SPDX-License-Identifier: Apache-2.0
// A decoder of the Llama family (Touvron et al., "LLaMA: Open and Efficient Foundation Language
// Models", 2023): RMS normalization before each sub-layer, rotary position embedding in halves,
// grouped-query attention, SwiGLU. Its key-value cache is state of the network: constants with
// updates, one row of `slots` per text, written from `starts` on, so that texts of different
// lengths share a run. In training it reads whole texts from their first token on, without a cache.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "level1_network/models/layers/sequence_layers.hpp"

namespace d5::model {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr int kOpset = 24;           // the first with TensorScatter
constexpr float kDeviation = 0.02F;  // as GPT-2 and Llama are initialised

struct DecoderOptions : ModelOptions {
  std::int64_t layers = 4;
  std::int64_t width = 256;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 4;
  std::int64_t hidden = 688;
  std::int64_t vocabulary = 4096;
  std::int64_t capacity = 256;
  std::int64_t slots = 1;
  double rope_base = 10'000;
  double epsilon = 1e-5;
  bool tied = true;
  bool drawn = true;

  void declare(OptionList& options) {
    ModelOptions::declare(options);
    options.add("layers", layers, "number of layers: attention and SwiGLU each", {.least = 0});
    options.add("width", width, "size of a token's vector; an even multiple of heads",
                {.least = 2});
    options.add("heads", heads, "number of attention heads; a multiple of kv_heads", {.least = 1});
    options.add("kv_heads", kv_heads, "number of heads of keys and values", {.least = 1});
    options.add("hidden", hidden, "units between the linear layers of SwiGLU", {.least = 1});
    options.add("vocabulary", vocabulary, "number of different tokens", {.least = 1});
    options.add("capacity", capacity, "tokens in the cache of a slot", {.least = 1});
    options.add("slots", slots, "number of texts in a run", {.least = 1});
    options.add("rope_base", rope_base, "base of the rotary angles", {.least = 1});
    options.add("epsilon", epsilon, "addend below the root of RMS normalization", {.least = 0});
    options.add("tied", tied, "whether the embedding predicts the next token, too");
    options.add("drawn", drawn, "draw initial weights; false: zeros, for weights from elsewhere");
  }

  [[nodiscard]] std::int64_t size() const { return width / heads; }
  [[nodiscard]] std::int64_t kv_width() const { return kv_heads * size(); }
  [[nodiscard]] InitialWeights weights() const { return drawn ? normal(kDeviation) : constant(0); }
};

void expect_sizes(const DecoderOptions& options) {
  if (options.width % (2 * options.heads) != 0) {
    throw ValueError(fmt::format(
        "network decoder: width is {} and heads are {}; expected an even multiple of heads",
        options.width, options.heads));
  }
  if (options.heads % options.kv_heads != 0) {
    throw ValueError(fmt::format(
        "network decoder: heads are {} and kv_heads are {}; expected a multiple of kv_heads",
        options.heads, options.kv_heads));
  }
}

/// f(t / base^(2k / size)). Shapes: capacity x size / 2.
/// Source: Su et al., "RoFormer" (2021), section 3.2.2.
template <class F>
Tensor angles(const DecoderOptions& options, const F& f) {
  const std::int64_t pairs = options.size() / 2;
  Tensor result = Tensor::empty(DType::float32, {options.capacity, pairs});
  float* value = result.data<float>();
  for (std::int64_t t = 0; t < options.capacity; ++t) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      *value++ = float(f(double(t) * std::pow(options.rope_base, -double(k) / double(pairs))));
    }
  }
  return result;
}

/// Builds the network. Activations between layers are matrices of a row per token.
class Decoder {
 public:
  explicit Decoder(const DecoderOptions& options)
      : options_(options), net_("decoder", options, {.linear = options.weights()}) {
    net_.set_opset(kOpset);
  }

  Network build() {
    take_inputs();
    for (std::int64_t i = 1; i <= options_.layers; ++i) {
      const std::string layer = fmt::format("layer{}", i);
      attention(layer + ".attention");
      feed_forward(layer + ".feed_forward");
    }
    predict();
    if (options_.training) return net_.finish({"N", "T"});
    return net_.finish({options_.slots, "L"});
  }

 private:
  void take_inputs() {
    if (options_.training) {
      take_whole_texts();
    } else {
      take_next_tokens();
    }
    net_.constant("rows", Tensor::vector(Integers{-1, options_.width}));
    net_.constant("rope.cosine", angles(options_, [](double x) { return std::cos(x); }));
    net_.constant("rope.sine", angles(options_, [](double x) { return std::sin(x); }));
    place_tokens();
    net_.set_current("tokens");
    embed(net_, "embedding", options_.vocabulary, options_.width, options_.weights());
    reshape("embedding.rows", "rows");
  }

  void take_next_tokens() {
    const std::int64_t slots = options_.slots;
    net_.input("places", {slots, "L", 1}, DType::int64);
    net_.input("starts", {slots}, DType::int64);
    net_.input("tokens", {slots, "T"}, DType::int64);
    net_.constant("texts", Tensor::vector(Integers{slots, -1, options_.width}));
    net_.constant("kv_texts", Tensor::vector(Integers{slots, -1, options_.kv_width()}));
    net_.constant("scores", Tensor::vector(Integers{slots, -1, options_.vocabulary}));
  }

  /// Texts of any number and length; what depends on their sizes follows from "tokens".
  void take_whole_texts() {
    net_.input("tokens", {"N", "T"}, DType::int64);
    net_.node("Shape", "sizes", {"tokens"});
    net_.node("Shape", "number", {"tokens"}, {{"end", std::int64_t{1}}});
    net_.node("ConstantOfShape", "start", {"number.out"}, {{"value", Tensor::vector(Integers{0})}},
              "starts");
    const auto shape = [&](const std::string& name, std::int64_t width) {
      net_.constant(name + ".width", Tensor::vector(Integers{width}));
      net_.node("Concat", name + ".shape", {"sizes.out", name + ".width"},
                {{"axis", std::int64_t{0}}}, name);
    };
    shape("texts", options_.width);
    shape("kv_texts", options_.kv_width());
    shape("scores", options_.vocabulary);
  }

  /// Positions of the tokens, and without training the length of each text with them.
  void place_tokens() {
    net_.constant("zero", Tensor::scalar(std::int64_t{0}));
    net_.constant("one", Tensor::scalar(std::int64_t{1}));
    net_.constant("column", Tensor::vector(Integers{1}));
    net_.constant("none", Tensor::vector(Integers{}));
    net_.node("Shape", "count", {"tokens"}, {{"start", std::int64_t{1}}});
    net_.node("Reshape", "new_tokens", {net_.current(), "none"});
    const std::string count = net_.current();
    if (!options_.training) net_.node("Add", "lengths", {"starts", count});
    net_.node("Range", "offsets", {"zero", count, "one"});
    net_.node("Unsqueeze", "first", {"starts", "column"});
    net_.node("Add", "positions", {"first.out", "offsets.out"});
  }

  /// A linear layer without bias. Its weights are {out, in}, as in files of such models.
  void project(const std::string& name, const std::string& input, std::int64_t in,
               std::int64_t out) {
    const std::string weight = name + ".weight";
    net_.parameter(weight, {out, in}, {.in = in, .out = out}, net_.initialization().linear);
    net_.node("Gemm", name, {input, weight}, {{"transB", std::int64_t{1}}});
  }

  void normalize(const std::string& name) {
    net_.parameter(name + ".scale", {options_.width}, {}, constant(1));
    net_.node("RMSNormalization", name, {net_.current(), name + ".scale"},
              {{"epsilon", float(options_.epsilon)}});
  }

  void reshape(const std::string& name, const std::string& shape) {
    net_.node("Reshape", name, {net_.current(), shape});
  }

  void rotate(const std::string& name, std::int64_t heads) {
    net_.node("RotaryEmbedding", name,
              {net_.current(), "rope.cosine", "rope.sine", "positions.out"},
              {{"num_heads", heads}});
  }

  /// Writes the current rows to the cache "<name>" of all texts, slots x capacity x kv_width, and
  /// returns what it holds then; in training the rows are all.
  std::string remember(const std::string& name) {
    if (options_.training) return net_.current();
    net_.constant(name, Tensor::zeros(DType::float32,
                                      {options_.slots, options_.capacity, options_.kv_width()}));
    net_.node("TensorScatter", name + ".write", {name, net_.current(), "starts"},
              {{"axis", std::int64_t{1}}});
    net_.update(name, net_.current());
    return net_.current();
  }

  void attention(const std::string& name) {
    const std::string input = net_.current();
    const std::int64_t width = options_.width, kv_width = options_.kv_width();
    normalize(name + ".norm");
    const std::string normalized = net_.current();
    project(name + ".key", normalized, width, kv_width);
    reshape(name + ".key.texts", "kv_texts");
    rotate(name + ".key.rotated", options_.kv_heads);
    const std::string keys = remember(name + ".key_cache");
    project(name + ".value", normalized, width, kv_width);
    reshape(name + ".value.texts", "kv_texts");
    const std::string values = remember(name + ".value_cache");
    project(name + ".query", normalized, width, width);
    reshape(name + ".query.texts", "texts");
    rotate(name + ".query.rotated", options_.heads);
    std::vector<std::string> inputs{net_.current(), keys, values};
    if (!options_.training) inputs.insert(inputs.end(), {"", "", "", "lengths.out"});
    net_.node("Attention", name + ".mean", std::move(inputs),
              {{"is_causal", std::int64_t{1}},
               {"kv_num_heads", options_.kv_heads},
               {"q_num_heads", options_.heads}});
    reshape(name + ".rows", "rows");
    project(name + ".output", net_.current(), width, width);
    net_.add(name + ".add", input);
  }

  /// down(silu(gate(x)) up(x)). Source: Shazeer, "GLU Variants Improve Transformer" (2020).
  void feed_forward(const std::string& name) {
    const std::string input = net_.current();
    const std::int64_t width = options_.width, hidden = options_.hidden;
    normalize(name + ".norm");
    const std::string normalized = net_.current();
    project(name + ".gate", normalized, width, hidden);
    const std::string gate = net_.current();
    net_.apply("Sigmoid", name + ".sigmoid");
    net_.node("Mul", name + ".silu", {gate, net_.current()});
    const std::string open = net_.current();
    project(name + ".up", normalized, width, hidden);
    net_.node("Mul", name + ".gated", {open, net_.current()});
    project(name + ".down", net_.current(), hidden, width);
    net_.add(name + ".add", input);
  }

  /// Scores of the next token after the tokens at `places`.
  void predict() {
    if (!options_.training) {
      reshape("answers.texts", "texts");
      net_.node("GatherND", "answers", {net_.current(), "places"},
                {{"batch_dims", std::int64_t{1}}});
      reshape("answers.rows", "rows");
    }
    normalize("norm");
    if (options_.tied) {
      net_.node("Gemm", "head", {net_.current(), "embedding.weight"},
                {{"transB", std::int64_t{1}}});
    } else {
      project("head", net_.current(), options_.width, options_.vocabulary);
    }
    net_.node("Reshape", "scores_of_texts", {net_.current(), "scores"}, {}, "logits");
  }

  const DecoderOptions& options_;
  ModelBuilder net_;
};

Network decoder(const DecoderOptions& options) {
  expect_sizes(options);
  return Decoder(options).build();
}

}  // namespace

void register_decoder(Registry<ModelEntry>& registry) {
  registry.add(
      "decoder",
      ModelEntry::with<DecoderOptions>(
          "decoder of the Llama family with its key-value cache as state, inputs \"tokens\" "
          "(int64 slotsxT), \"starts\" (rows of the cache that are filled) and \"places\" (tokens "
          "to score after); with training, whole texts NxT (Touvron et al., 2023)",
          decoder));
}

}  // namespace d5::model
