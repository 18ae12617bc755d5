// SPDX-License-Identifier: Apache-2.0
#include "level1_network/models/layers/initial_weights.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level1_network/source/models.hpp"

using namespace d5;

namespace {

struct Spread {
  double mean = 0, variance = 0, largest = 0;
};

Spread spread_of(const Tensor& tensor) {
  Spread result;
  const auto count = double(tensor.elements());
  for (const float x : tensor.span<float>()) {
    result.mean += x / count;
    result.variance += double(x) * x / count;
    result.largest = std::max(result.largest, std::abs(double(x)));
  }
  return result;
}

Spread drawn(const InitialWeights& draw, Fans fans = {}) {
  RandomStream random(1);
  return spread_of(draw({1000, 100}, fans, random));
}

/// The variance of 100,000 draws scatters by 0.45% of itself where they are normal.
Approx about(double variance) { return Approx(variance).epsilon(0.025); }

}  // namespace

TEST_CASE("initial weights have the spread that their papers give") {
  const Fans fans{.in = 30, .out = 50};
  CHECK(drawn(he_fan_in, fans).variance == about(2.0 / 30));
  CHECK(drawn(he_fan_out, fans).variance == about(2.0 / 50));
  CHECK(drawn(normal(0.3f)).variance == about(0.09));
  CHECK(drawn(glorot_uniform, fans).variance == about(2.0 / 80));
  CHECK(drawn(lecun_uniform, fans).variance == about(1.0 / 90));
  CHECK(drawn(uniform(0.3f)).variance == about(0.03));
  // Variance of a normal truncated at two deviations: 1 - 4 phi(2) / (2 Phi(2) - 1).
  CHECK(drawn(truncated_normal(0.3f)).variance == about(0.09 * 0.77374));
}

TEST_CASE("initial weights have mean zero, and none is further away than it may be") {
  CHECK(drawn(normal(0.3f)).mean == Approx(0).margin(0.005));
  CHECK(drawn(truncated_normal(0.3f)).mean == Approx(0).margin(0.005));
  CHECK(drawn(uniform(0.3f)).mean == Approx(0).margin(0.005));
  CHECK(drawn(truncated_normal(0.3f)).largest <= 0.6f);
  CHECK(drawn(uniform(0.3f)).largest <= 0.3f);
  CHECK(drawn(constant(0.1f)).mean == Approx(0.1).epsilon(1e-6));
}

TEST_CASE("a convolution within each channel has fans of one channel") {
  Network network = models().at("mobilenet-v1").make({});
  // 1024 windows of 3x3: the variance scatters by 1.5% of itself.
  CHECK(spread_of(network.parameter("block13.depthwise.weight").value).variance ==
        Approx(2.0 / 9).epsilon(0.075));
}
