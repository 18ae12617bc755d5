// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "d5/core/entries/option.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {

/// Choice of the next token from a network's scores.
///
/// Probabilities are softmax(scores / temperature), in float64. They are cut in this order: the
/// `top_k` most likely; of these the fewest whose share is `top_p` or more; of these, tokens with
/// at least `min_p` of the largest probability. One token is drawn from the rest. Of equal scores,
/// the token with the lower id is kept first.
///
/// Source: Fan et al., "Hierarchical Neural Story Generation" (2018), top-k; Holtzman et al., "The
/// Curious Case of Neural Text Degeneration" (2020), top-p; Nguyen et al., "Turning Up the Heat"
/// (2024), min-p.
struct Sampling {
  double temperature = 0;     ///< 0: the largest score (greedy), of equals the lowest id
  std::int64_t top_k = 0;     ///< 0: all
  double top_p = 1;           ///< share of probability in (0, 1]
  double min_p = 0;           ///< share of the largest probability in [0, 1]
  std::uint64_t seed = 0;     ///< seed of all draws
  std::uint32_t request = 0;  ///< number of the text among those of a seed

  void declare(OptionList& options);
};

/// Throws: ValueError for a number outside its range.
void expect_valid(const Sampling& sampling);

/// Token for the place after `position` tokens, from one score a token. The draw depends on seed,
/// request and position alone (Philox): equal scores give the same token in every batch, on every
/// number of threads. `barred` tokens are not chosen.
/// Throws: ValueError for scores without a number above minus infinity, or with NaN.
[[nodiscard]] TokenId next_token(std::span<const float> scores, const Sampling& sampling,
                                 std::int64_t position, std::span<const TokenId> barred = {});

}  // namespace d5
