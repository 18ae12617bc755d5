// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// Loops of independent fused multiply-adds in registers, in the widest vectors of this processor.
struct FusedMultiplyAdds {
  double (*float32)(std::int64_t rounds, float factor);
  double (*float64)(std::int64_t rounds, double factor);
  std::int64_t float32_flop, float64_flop;  ///< per round
};
[[nodiscard]] FusedMultiplyAdds fused_multiply_adds();

/// `x = x * factor + (1 - factor)` in independent chains: their number times the lanes of a vector
/// hides the latency of all processors known, and leaves two of sixteen registers for the operands.
template <class T, int kBytes>
struct MultiplyAddChains {
  static constexpr int kChains = 12;
  static constexpr std::int64_t kFlop = 2 * kChains * (kBytes / int(sizeof(T)));

  [[gnu::always_inline]] static inline double run(std::int64_t rounds, T factor) {
    using Vector [[gnu::vector_size(kBytes)]] = T;
    const Vector times = Vector{} + factor, plus = Vector{} + (1 - factor);
    Vector chains[kChains];
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) chains[c] = Vector{} + T(c);
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
      for (int c = 0; c < kChains; ++c) chains[c] = chains[c] * times + plus;
    }
#pragma GCC unroll 12
    for (int c = 1; c < kChains; ++c) chains[0] += chains[c];
    double sum = 0;
    for (int i = 0; i < kBytes / int(sizeof(T)); ++i) sum += double(chains[0][i]);
    return sum;
  }
};

}  // namespace d5::detail
