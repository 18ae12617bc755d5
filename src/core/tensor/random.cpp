// SPDX-License-Identifier: Apache-2.0
#include "d5/core/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace d5 {

RandomStream::RandomStream(std::uint64_t seed, std::uint32_t stream, std::uint32_t substream)
    : key_{std::uint32_t(seed), std::uint32_t(seed >> 32)}, counter_{0, 0, stream, substream} {}

void RandomStream::refill() {
  r123::Philox4x32 philox;
  const r123::Philox4x32::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const auto block = philox(counter, {{key_[0], key_[1]}});
  for (int i = 0; i < 4; ++i) block_[i] = block[i];
  if (++counter_[0] == 0) ++counter_[1];
  used_ = 0;
}

std::uint32_t RandomStream::bits() {
  if (used_ == 4) refill();
  return block_[used_++];
}

float RandomStream::uniform() { return float(bits() >> 8) * 0x1p-24f; }

double RandomStream::uniform_double() {
  const std::uint64_t high = bits() >> 5, low = bits() >> 6;
  return double((high << 26) | low) * 0x1p-53;
}

double RandomStream::normal_double() {
  // 1 - u is in (0, 1], so the logarithm is finite.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform_double()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform_double());
}

float RandomStream::normal() { return float(normal_double()); }

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Numbers in the incomplete last interval are drawn again.
  const std::uint64_t rejected = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t high = bits();
    const std::uint64_t draw = (high << 32) | bits();
    if (draw >= rejected) return draw % bound;
  }
}

void RandomStream::shuffle(std::span<std::int64_t> values) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
}

std::uint32_t stream_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const unsigned char c : name) hash = (hash ^ c) * 16777619u;
  return hash;
}

}  // namespace d5
