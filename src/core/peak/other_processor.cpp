// SPDX-License-Identifier: Apache-2.0
#include "core/peak/fused_multiply_adds.hpp"

namespace d5::detail {
namespace {

template <class T>
double in_128_bits(std::int64_t rounds, T factor) {
  return MultiplyAddChains<T, 16>::run(rounds, factor);
}

}  // namespace

FusedMultiplyAdds fused_multiply_adds() {
  return {in_128_bits<float>, in_128_bits<double>, MultiplyAddChains<float, 16>::kFlop,
          MultiplyAddChains<double, 16>::kFlop};
}

}  // namespace d5::detail
