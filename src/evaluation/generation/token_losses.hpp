// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5::detail {

/// -log softmax(scores)[token], in nats.
template <class T>
[[nodiscard]] double token_loss(std::span<const T> scores, TokenId token) {
  const double largest = double(std::ranges::max(scores));
  double sum = 0;
  for (const T score : scores) sum += std::exp(double(score) - largest);
  return largest + std::log(sum) - double(scores[std::size_t(token)]);
}

/// Losses of a text's tokens after the first, from one run of a network of the form that
/// `NetworkGenerator` describes. It overwrites the caches of all slots.
/// Throws: ValueError for fewer than two tokens, more than the caches have rows, and a token
/// outside the vocabulary.
[[nodiscard]] std::vector<double> token_losses(GraphExecutor& executor,
                                               std::span<const TokenId> text);

}  // namespace d5::detail
