// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/evaluation/generation/language_model.hpp"

namespace d5::detail {

/// Sizes of the built-in network `decoder`, as a file of weights implies them.
struct DecoderSizes {
  std::int64_t layers = 0, width = 0, heads = 0, kv_heads = 0, hidden = 0, vocabulary = 0;
  std::int64_t length = 0;  ///< tokens of a text that the model was trained for
  double rope_base = 10'000, epsilon = 1e-5;
  bool tied = true;

  /// Numbers of files above are refused.
  static constexpr std::int64_t kMostLayers = 1024;
  static constexpr std::int64_t kMost = 2'147'483'647;
  /// Throws: FormatError if the width is no even multiple of the heads, or these none of
  /// `kv_heads`.
  void expect_heads(const std::string& who) const;
  [[nodiscard]] std::int64_t head_size() const { return width / heads; }
};

/// Names of a format's tensors; those of a layer follow `layer`, where {} is its number from 0 on.
struct DecoderNames {
  const char *embedding, *norm, *head, *layer;
  const char *attention_norm, *query, *key, *value, *output;
  const char *feed_forward_norm, *gate, *up, *down;
};

/// A parameter of the network, and the tensor that it is in a file.
struct DecoderWeight {
  std::string parameter, tensor;
  Shape shape;
  std::int64_t rotated_heads = 0;  ///< heads that rotary embedding turns; 0: none
};

[[nodiscard]] std::vector<DecoderWeight> decoder_weights(const DecoderSizes& sizes,
                                                         const DecoderNames& names);

/// Throws: Unsupported for a tensor that is no weight of the network.
void expect_known(const std::vector<std::string_view>& tensors,
                  const std::vector<DecoderWeight>& weights, const std::string& who);

/// The network, whose weights `read` writes. Throws: ValueError for options; what `read` throws.
[[nodiscard]] Network decoder_of(
    const DecoderSizes& sizes, const LanguageModelOptions& options,
    const std::vector<DecoderWeight>& weights, const std::string& who,
    const std::function<void(const DecoderWeight& weight, std::span<float> into)>& read);

}  // namespace d5::detail
