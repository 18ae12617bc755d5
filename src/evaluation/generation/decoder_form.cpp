// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/decoder_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "level1_network/nodes/value_descs.hpp"

namespace d5::detail {
namespace {

std::string who_of(const Network& network) {
  return fmt::format("generator of network '{}'", printable(network.name()));
}

constexpr std::int64_t kOpen = -1;

/// The declared sizes of an input, or kOpen.
std::vector<std::int64_t> form_sizes(const Network& network, const std::string& name,
                                     std::size_t rank) {
  const auto& inputs = network.graph().inputs;
  const auto input = std::ranges::find(inputs, name, &onnx::ValueInfo::name);
  if (input == inputs.end()) {
    throw NotFound(fmt::format(
        "{}: input '{}' is missing, expected tokens, starts and places, as network decoder has "
        "them",
        who_of(network), name));
  }
  if (input->type.dtype != DType::int64) {
    throw TypeError(fmt::format("{}: input '{}' is {}, expected int64", who_of(network), name,
                                to_string(input->type)));
  }
  std::vector<std::int64_t> sizes;
  for (const onnx::Dim& dim : input->type.dims) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    sizes.push_back(size ? *size : kOpen);
  }
  if (sizes.size() != rank) {
    throw ShapeError(fmt::format("{}: input '{}' has {} dimensions, expected {}", who_of(network),
                                 name, sizes.size(), rank));
  }
  return sizes;
}

/// Tokens that are scored, from the network's output.
std::int64_t vocabulary_of(const Network& network, std::int64_t slots) {
  const auto outputs = network.output_names();
  if (std::ranges::find(outputs, "logits") == outputs.end()) {
    throw_unknown_name("output", "logits", outputs);
  }
  constexpr std::int64_t kOne = 1;  // token, and place
  const ValueDescs descs = infer_values(network.graph(), [](const onnx::Dim&) { return kOne; });
  const auto logits = descs.find("logits");
  if (logits == descs.end() || !logits->second.is_static()) {
    throw ShapeError(
        fmt::format("{}: the shape of output 'logits' depends on data, expected {} x "
                    "places x vocabulary",
                    who_of(network), slots));
  }
  const TensorDesc& desc = logits->second.tensor;
  if (desc.dtype != DType::float32) {
    throw TypeError(fmt::format("{}: output 'logits' is {}, expected float32", who_of(network),
                                to_string(desc)));
  }
  if (desc.shape.rank() != 3 || desc.shape[0] != slots || desc.shape[1] != kOne ||
      desc.shape[2] < 1) {
    throw ShapeError(fmt::format(
        "{}: output 'logits' is {} for a token and a place a slot, expected {} x 1 x vocabulary",
        who_of(network), to_string(desc), slots));
  }
  return desc.shape[2];
}

/// Rows of the shortest cache.
std::int64_t rows_of(const Network& network, std::int64_t slots) {
  if (network.updates().empty()) {
    throw NotFound(
        fmt::format("{}: no constant is updated, expected caches of keys and values as state "
                    "(Network::add_update)",
                    who_of(network)));
  }
  std::int64_t rows = std::numeric_limits<std::int64_t>::max();
  for (const auto& [constant, output] : network.updates()) {
    const Shape& shape = network.fetch(constant).shape();
    if (shape.rank() < 3 || shape.rank() > 4 || shape[0] != slots) {
      throw ShapeError(fmt::format(
          "{}: the updated constant '{}' is {}, expected {} x rows x width, or {} x heads x rows x "
          "size",
          who_of(network), printable(constant), to_string(shape), slots, slots));
    }
    rows = std::min(rows, shape[shape.rank() - 2]);
  }
  return rows;
}

}  // namespace

DecoderForm decoder_form(const Network& network) {
  DecoderForm form;
  form.slots = form_sizes(network, "starts", 1)[0];
  const auto tokens = form_sizes(network, "tokens", 2), places = form_sizes(network, "places", 3);
  if (form.slots < 1 || tokens[0] != form.slots || places[0] != form.slots) {
    throw ShapeError(fmt::format(
        "{}: the first dimensions of tokens, starts and places are {}, {} and {}, expected one "
        "known number of slots",
        who_of(network), tokens[0], form.slots, places[0]));
  }
  form.rows = rows_of(network, form.slots);
  form.vocabulary = vocabulary_of(network, form.slots);
  return form;
}

ValueMap decoder_inputs(const DecoderForm& form, std::int64_t count, std::int64_t answers) {
  return {{"tokens", Tensor::zeros(DType::int64, {form.slots, count})},
          {"starts", Tensor::zeros(DType::int64, {form.slots})},
          {"places", Tensor::zeros(DType::int64, {form.slots, answers, 1})}};
}

void expect_tokens(std::span<const TokenId> tokens, const DecoderForm& form, const char* what) {
  if (tokens.empty()) {
    throw ValueError(fmt::format("generation: the {} is empty, expected at least one token", what));
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < form.vocabulary) continue;
    throw ValueError(fmt::format(
        "generation: token {} of the {} is {}, expected 0 to {}; the vocabulary may be that of "
        "another network",
        i, what, tokens[i], form.vocabulary - 1));
  }
}

}  // namespace d5::detail
