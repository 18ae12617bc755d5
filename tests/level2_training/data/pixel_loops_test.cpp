// SPDX-License-Identifier: Apache-2.0
// The loops for this processor give the bytes of those that every processor runs.
#include "level2_training/data/image/pixel_loops.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "level2_training/data/image/normaliser.hpp"
#include "level2_training/data/image/pixel_loops/plain.hpp"

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
      // Data behind the row is random, and must not matter.
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

TEST_CASE("pixels are normalised to the bits that the definition gives, whatever their number") {
  const std::vector<double> means{0.485, 0.456, 0.406}, deviations{0.229, 0.224, 0.225};
  for (const bool one_for_all : {false, true}) {
    const std::vector<double> mean = one_for_all ? std::vector{0.1} : means;
    const std::vector<double> deviation = one_for_all ? std::vector{3e-5} : deviations;
    const detail::Normaliser normaliser(mean, deviation);
    for (const std::int64_t pixels : {1, 15, 16, 17, 256, 1000}) {
      INFO(pixels << " pixels");
      Bytes in(std::size_t(3 * pixels));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::uint8_t(i);
      std::vector<float> out(in.size()), expected(in.size());
      normaliser.run(
          {.dtype = DType::uint8, .rank = 3, .sizes = {1, pixels, 3}, .data = in.data()},
          {.dtype = DType::float32, .rank = 3, .sizes = {3, 1, pixels}, .data = out.data()});
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t of = one_for_all ? 0 : c;
        for (std::size_t i = 0; i < std::size_t(pixels); ++i) {
          expected[c * std::size_t(pixels) + i] =
              float((in[3 * i + c] / 255.0 - mean[of]) / deviation[of]);
        }
      }
      CHECK(out == expected);
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
