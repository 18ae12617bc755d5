// SPDX-License-Identifier: Apache-2.0
// The LSTM language model of Zaremba et al., "Recurrent Neural Network Regularization" (2014),
// which predicts each next word. Default: the medium model, with initial weights uniform in +-0.05.
// Dropout is applied only to non-recurrent connections. The initial state of each sequence is zero.
#include <fmt/format.h>

#include "level1_network/models/layers/sequence_layers.hpp"

namespace d5::model {
namespace {

struct LstmOptions : ModelOptions {
  std::int64_t vocabulary = 10'000;
  std::int64_t width = 650;
  std::int64_t layers = 2;

  void declare(OptionList& options) {
    ModelOptions::declare(options);
    options.add("vocabulary", vocabulary, "number of different tokens", {.least = 1});
    options.add("width", width, "units per layer, and size of a token's embedding", {.least = 1});
    options.add("layers", layers, "number of LSTM layers", {.least = 1});
  }
};

/// Shapes: TxNxwidth to the same. An LSTM with four gates, each with an input bias and a state
/// bias.
void lstm(ModelBuilder& net, const std::string& name, std::int64_t width) {
  const Fans fans{.in = width, .out = width};
  const InitialWeights& draw = net.initialization().linear;
  net.parameter(name + ".input_weight", {1, 4 * width, width}, fans, draw);
  net.parameter(name + ".state_weight", {1, 4 * width, width}, fans, draw);
  net.parameter(name + ".bias", {1, 8 * width}, fans, draw);
  net.node("LSTM", name,
           {net.current(), name + ".input_weight", name + ".state_weight", name + ".bias"},
           {{"hidden_size", width}});
  net.node("Squeeze", name + ".squeeze", {net.current(), "directions"});
}

Network lstm_language_model(const LstmOptions& options) {
  constexpr float kDropout = 0.5f;
  using Integers = std::vector<std::int64_t>;
  ModelBuilder net("lstm-language-model", options,
                   {.linear = uniform(0.05f), .linear_bias = uniform(0.05f)});
  net.input("tokens", {"N", "T"}, DType::int64);
  net.constant("directions", Tensor::vector(Integers{1}));
  net.node("Transpose", "time_first", {net.current()}, {{"perm", Integers{1, 0}}});
  embed(net, "embedding", options.vocabulary, options.width, net.initialization().linear);
  net.dropout("embedding.dropout", kDropout);
  for (std::int64_t i = 1; i <= options.layers; ++i) {
    const std::string name = fmt::format("layer{}", i);
    lstm(net, name, options.width);
    net.dropout(name + ".dropout", kDropout);
  }
  net.node("Transpose", "batch_first", {net.current()}, {{"perm", Integers{1, 0, 2}}});
  linear(net, "decoder", options.width, options.vocabulary, "logits");
  return net.finish({"N", "T"});
}

}  // namespace

void register_lstm(Registry<ModelEntry>& registry) {
  registry.add("lstm-language-model",
               ModelEntry::with<LstmOptions>("LSTM that predicts the next token, input \"tokens\" "
                                             "(int64 NxT) (Zaremba et al., 2014)",
                                             lstm_language_model));
}

}  // namespace d5::model
