// SPDX-License-Identifier: Apache-2.0
// The encoder of Vaswani et al., "Attention Is All You Need" (2017), by default the base model. Its
// embedding is shared with the layer that predicts the token at each position. Projections are
// initialised as by Glorot and Bengio, embeddings normal with variance 1 / width, as in the
// authors' code.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "level1_network/models/layers/sequence_layers.hpp"

namespace d5::model {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr float kDropout = 0.1f;

struct TransformerOptions : ModelOptions {
  std::int64_t vocabulary = 37'000;
  std::int64_t length = 128;
  std::int64_t width = 512;
  std::int64_t heads = 8;
  std::int64_t layers = 6;
  std::int64_t hidden = 2048;

  void declare(OptionList& options) {
    ModelOptions::declare(options);
    options.add("vocabulary", vocabulary, "number of different tokens", {.least = 1});
    options.add("length", length, "tokens per sequence", {.least = 1});
    options.add("width", width, "size of a token's vector; a multiple of heads", {.least = 1});
    options.add("heads", heads, "number of attention heads", {.least = 1});
    options.add("layers", layers, "number of encoder layers: attention and two linear layers each",
                {.least = 0});
    options.add("hidden", hidden, "units between the two linear layers", {.least = 1});
  }
};

/// Section 3.5: sin(t / 10000^(2i / width)) at 2i, the cosine beside it.
Tensor positions(std::int64_t length, std::int64_t width) {
  Tensor result = Tensor::empty(DType::float32, {length, width});
  float* value = result.data<float>();
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t k = 0; k < width; ++k) {
      const double angle = double(t) * std::pow(10'000.0, -double(k - k % 2) / double(width));
      *value++ = float(k % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return result;
}

/// Dropout, the residual sum with the sub-layer's input, and layer normalization.
void end_sublayer(ModelBuilder& net, const std::string& name, std::int64_t width,
                  const std::string& input) {
  net.dropout(name + ".dropout", kDropout);
  net.add(name + ".add", input);
  const std::string norm = name + ".norm";
  net.parameter(norm + ".scale", {width}, {}, constant(1));
  net.parameter(norm + ".shift", {width}, {}, constant(0));
  net.node("LayerNormalization", norm, {net.current(), norm + ".scale", norm + ".shift"});
}

/// softmax(Q K^T / sqrt(size)) V in each head.
/// Shapes: Nxlengthxwidth to the same; Q and V are Nxheadsxlengthxsize, K^T Nxheadsxsizexlength.
void self_attention(ModelBuilder& net, const std::string& name, const TransformerOptions& options) {
  const std::string input = net.current();
  const auto in_heads = [&](const char* role, const Integers& order) {
    const std::string part = name + "." + role;
    net.set_current(input);
    project(net, part, options.width, options.width);
    net.node("Reshape", part + ".split", {net.current(), "attention.split"});
    net.node("Transpose", part + ".heads", {net.current()}, {{"perm", order}});
    return net.current();
  };
  const std::string query = in_heads("query", {0, 2, 1, 3});
  const std::string key = in_heads("key", {0, 2, 3, 1});
  const std::string value = in_heads("value", {0, 2, 1, 3});
  net.node("MatMul", name + ".scores", {query, key});
  net.node("Mul", name + ".scale", {net.current(), "attention.scale"});
  net.node("Softmax", name + ".softmax", {net.current()}, {{"axis", std::int64_t{-1}}});
  net.node("MatMul", name + ".mean", {net.current(), value});
  net.node("Transpose", name + ".places", {net.current()}, {{"perm", Integers{0, 2, 1, 3}}});
  net.node("Reshape", name + ".join", {net.current(), "attention.join"});
  project(net, name + ".output", options.width, options.width);
  end_sublayer(net, name, options.width, input);
}

void feed_forward(ModelBuilder& net, const std::string& name, const TransformerOptions& options) {
  const std::string input = net.current();
  linear(net, name + ".linear1", options.width, options.hidden);
  net.apply("Relu", name + ".relu");
  linear(net, name + ".linear2", options.hidden, options.width);
  end_sublayer(net, name, options.width, input);
}

Network transformer_encoder(const TransformerOptions& options) {
  const std::int64_t width = options.width, heads = options.heads;
  if (width % heads != 0) {
    throw ValueError(fmt::format(
        "network transformer-encoder: width is {} and heads are {}; expected a multiple of heads",
        width, heads));
  }
  const float root = std::sqrt(float(width));
  ModelBuilder net("transformer-encoder", options,
                   {.linear = glorot_uniform, .linear_bias = constant(0)});
  net.input("tokens", {"N", options.length}, DType::int64);
  net.constant("embedding.root", Tensor::scalar(root));
  net.constant("positions", positions(options.length, width));
  net.constant("attention.split", Tensor::vector(Integers{0, 0, heads, width / heads}));
  net.constant("attention.join", Tensor::vector(Integers{0, 0, width}));
  net.constant("attention.scale", Tensor::scalar(1 / std::sqrt(float(width / heads))));

  embed(net, "embedding", options.vocabulary, width, normal(1 / root));
  net.node("Mul", "embedding.scaled", {net.current(), "embedding.root"});
  net.add("embedding.placed", "positions");
  net.dropout("embedding.dropout", kDropout);
  for (std::int64_t i = 1; i <= options.layers; ++i) {
    const std::string layer = fmt::format("layer{}", i);
    self_attention(net, layer + ".attention", options);
    feed_forward(net, layer + ".feed_forward", options);
  }
  const std::string encoded = net.current();
  net.node("Transpose", "decoder.weight", {"embedding.weight"}, {{"perm", Integers{1, 0}}});
  net.node("MatMul", "decoder", {encoded, net.current()}, {}, "logits");
  return net.finish({"N", options.length});
}

}  // namespace

void register_transformer(Registry<ModelEntry>& registry) {
  registry.add("transformer-encoder",
               ModelEntry::with<TransformerOptions>(
                   "transformer encoder that predicts the token at each position, input \"tokens\" "
                   "(int64 Nxlength) (Vaswani et al., 2017)",
                   transformer_encoder));
}

}  // namespace d5::model
