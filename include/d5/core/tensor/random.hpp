// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace d5 {

/// A stream of random numbers, determined by (seed, stream, substream) alone, independent of
/// threads, ranks and other streams. Construction is free, so each sample may have its own stream.
///
/// Source: Philox 4x32-10, Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC'11).
///
///     RandomStream random(seed, epoch, sample_index);
///     float noise = random.normal();
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint32_t stream = 0, std::uint32_t substream = 0);

  [[nodiscard]] std::uint32_t bits();
  /// In [0, 1), 24 random bits.
  [[nodiscard]] float uniform();
  /// The same numbers as repeated calls of `uniform()`, several times as fast.
  void uniform(std::span<float> values);
  /// In [0, 1), 53 random bits.
  [[nodiscard]] double uniform_double();
  /// Mean 0, variance 1 (Box-Muller).
  [[nodiscard]] float normal();
  [[nodiscard]] double normal_double();
  /// In [0, bound), without bias. `bound` must be positive.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Fisher-Yates shuffle.
  void shuffle(std::span<std::int64_t> values);

 private:
  void refill();
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

/// A hash (FNV-1a) that maps a name to the number of a stream.
[[nodiscard]] std::uint32_t stream_of(std::string_view name);

}  // namespace d5
