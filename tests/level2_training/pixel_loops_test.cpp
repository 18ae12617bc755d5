// SPDX-License-Identifier: Apache-2.0
// The loops for this processor give the bytes of those that every processor runs.
#include "level2_training/image/pixel_loops.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "d5/core/random.hpp"
#include "level2_training/image/pixel_loops/plain.hpp"

using namespace d5;
using Bytes = std::vector<std::uint8_t>;

namespace {

Bytes random_bytes(std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed);
  Bytes bytes(static_cast<std::size_t>(count));
  for (auto& byte : bytes) byte = std::uint8_t(random.bits());
  return bytes;
}

}  // namespace

TEST_CASE("a row is narrowed to the same pixels by every processor") {
  const detail::PixelLoops loops = detail::pixel_loops();
  for (const std::int64_t in : {1, 2, 7, 224, 399, 1800}) {
    for (const std::int64_t out : {1, 2, 3, 17, 224}) {
      INFO(in << " to " << out);
      detail::ResampleWeights weights;
      weights.set(in, 0, double(in), out);
      // What lies behind the row plays no part: it is random.
      const Bytes row =
          random_bytes(3 * in + detail::PixelLoops::overshoot(weights), std::uint64_t(in));
      Bytes plain(std::size_t(3 * out)), loop(std::size_t(3 * out + 1));
      detail::plain::narrow(row.data(), 3, weights, plain.data());
      loops.narrow_rgb(row.data(), weights, loop.data());
      loop.pop_back();
      CHECK(loop == plain);
    }
  }
}

TEST_CASE("rows are lowered to the same bytes by every processor") {
  const detail::PixelLoops loops = detail::pixel_loops();
  for (const std::int64_t rows : {1, 2, 5, 40}) {
    detail::ResampleWeights weights;
    weights.set(rows, 0, double(rows), 1);
    for (const std::int64_t count : {1, 3, 64, 200, 672}) {
      INFO(rows << " rows of " << count);
      const Bytes in = random_bytes(rows * count, std::uint64_t(rows));
      const auto length = static_cast<std::size_t>(count);
      Bytes plain(length), loop(length);
      detail::plain::lower(in.data(), count, weights.of(0), rows, plain.data());
      loops.lower(in.data(), count, weights.of(0), rows, loop.data());
      CHECK(loop == plain);
    }
  }
}

TEST_CASE("the mean of a row is its mean") {
  detail::ResampleWeights weights;
  weights.set(2, 0, 2, 1);
  const Bytes row{10, 20, 255, 30, 40, 255, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
                  9,  9,  9,   9,  9,  9,   9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  Bytes out(4);
  detail::pixel_loops().narrow_rgb(row.data(), weights, out.data());
  out.pop_back();
  CHECK(out == Bytes{20, 30, 255});
}
