// SPDX-License-Identifier: Apache-2.0
// Each vector width is compiled separately here, because d5 may be compiled for an older processor.
#include "core/peak/fused_multiply_adds.hpp"

// By default, both compilers split vectors of 512 bits in two.
#ifdef __clang__
#define D5_IN_512_BITS [[gnu::target("avx512f"), clang::min_vector_width(512)]]
#else
#define D5_IN_512_BITS [[gnu::target("avx512f,prefer-vector-width=512")]]
#endif

namespace d5::detail {
namespace {

template <class T>
D5_IN_512_BITS double in_512_bits(std::int64_t rounds, T factor) {
  return MultiplyAddChains<T, 64>::run(rounds, factor);
}
template <class T>
[[gnu::target("avx2,fma")]] double in_256_bits(std::int64_t rounds, T factor) {
  return MultiplyAddChains<T, 32>::run(rounds, factor);
}
template <class T>
double in_128_bits(std::int64_t rounds, T factor) {
  return MultiplyAddChains<T, 16>::run(rounds, factor);
}

}  // namespace

FusedMultiplyAdds fused_multiply_adds() {
  if (__builtin_cpu_supports("avx512f")) {
    return {in_512_bits<float>, in_512_bits<double>, MultiplyAddChains<float, 64>::kFlop,
            MultiplyAddChains<double, 64>::kFlop};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {in_256_bits<float>, in_256_bits<double>, MultiplyAddChains<float, 32>::kFlop,
            MultiplyAddChains<double, 32>::kFlop};
  }
  return {in_128_bits<float>, in_128_bits<double>, MultiplyAddChains<float, 16>::kFlop,
          MultiplyAddChains<double, 16>::kFlop};
}

}  // namespace d5::detail
