// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace d5 {
namespace {

/// Philox 4x32-10 of `kLanes` consecutive positions in parallel. Lanes are 64 bits wide, of which
/// the lower half is used: compilers vectorise this product, but not a widening one.
constexpr std::size_t kLanes = 16;

void philox_lanes(std::uint64_t position, std::uint32_t stream, std::uint32_t substream,
                  std::array<std::uint32_t, 2> key, std::array<std::uint32_t, 4 * kLanes>& bits) {
  constexpr std::uint64_t kLow = 0xffffffff, kFirst = PHILOX_M4x32_0, kSecond = PHILOX_M4x32_1;
  constexpr int kRounds = 10;
  std::array<std::uint64_t, kLanes> a, b, c, d;
  for (std::size_t l = 0; l < kLanes; ++l) {
    a[l] = (position + l) & kLow;
    b[l] = (position + l) >> 32;
    c[l] = stream;
    d[l] = substream;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::uint64_t first = kFirst * (a[l] & kLow), second = kSecond * (c[l] & kLow);
      a[l] = (second >> 32) ^ b[l] ^ key[0];
      b[l] = second & kLow;
      c[l] = (first >> 32) ^ d[l] ^ key[1];
      d[l] = first & kLow;
    }
    key[0] += PHILOX_W32_0;
    key[1] += PHILOX_W32_1;
  }
  for (std::size_t l = 0; l < kLanes; ++l) {
    bits[4 * l] = std::uint32_t(a[l]);
    bits[4 * l + 1] = std::uint32_t(b[l]);
    bits[4 * l + 2] = std::uint32_t(c[l]);
    bits[4 * l + 3] = std::uint32_t(d[l]);
  }
}

float uniform_of(std::uint32_t bits) { return float(bits >> 8) * 0x1p-24f; }

}  // namespace

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

float RandomStream::uniform() { return uniform_of(bits()); }

void RandomStream::uniform(std::span<float> values) {
  std::size_t i = 0;
  for (; i < values.size() && used_ < 4; ++i) values[i] = uniform();
  std::array<std::uint32_t, 4 * kLanes> bits;
  for (; i + bits.size() <= values.size(); i += bits.size()) {
    const std::uint64_t position = (std::uint64_t{counter_[1]} << 32) | counter_[0];
    philox_lanes(position, counter_[2], counter_[3], key_, bits);
    counter_[0] = std::uint32_t(position + kLanes);
    counter_[1] = std::uint32_t((position + kLanes) >> 32);
    for (std::size_t k = 0; k < bits.size(); ++k) values[i + k] = uniform_of(bits[k]);
  }
  for (; i < values.size(); ++i) values[i] = uniform();
}

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
