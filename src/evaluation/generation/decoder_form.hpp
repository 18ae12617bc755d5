// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5::detail {

/// Sizes of a network of the form that `NetworkGenerator` describes.
struct DecoderForm {
  std::int64_t slots = 0, rows = 0, vocabulary = 0;
};

/// Throws: NotFound for a missing input, output or cache; TypeError, ShapeError for another form.
[[nodiscard]] DecoderForm decoder_form(const Network& network);

/// Inputs of a run; every element is zero at first.
/// Shapes: tokens slots x count, starts slots, places slots x answers x 1.
[[nodiscard]] ValueMap decoder_inputs(const DecoderForm& form, std::int64_t count,
                                      std::int64_t answers);

/// Throws: ValueError for an empty text, and for a token outside the vocabulary; `what` names it.
void expect_tokens(std::span<const TokenId> tokens, const DecoderForm& form, const char* what);

}  // namespace d5::detail
