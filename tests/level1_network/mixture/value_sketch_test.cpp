// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/value_sketch.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/tensor/random.hpp"

using namespace d5;

namespace {

Tensor normal(std::uint64_t seed, std::int64_t size = 1000) {
  Tensor result = Tensor::empty(DType::float32, {size});
  RandomStream random(seed);
  for (float& x : result.span<float>()) x = random.normal();
  return result;
}

Tensor scaled(const Tensor& tensor, float factor) {
  Tensor result = tensor.copy();
  for (float& x : result.span<float>()) x *= factor;
  return result;
}

bool differ(const Tensor& a, const Tensor& b, double least = 0) {
  return differ_grossly(*sketch(a), *sketch(b), least);
}

}  // namespace

TEST_CASE("a sketch tells what rounding explains from what it does not") {
  const Tensor x = normal(1);
  CHECK_FALSE(differ(x, x));
  CHECK_FALSE(differ(x, scaled(x, 1.001f)));
  CHECK(differ(x, scaled(x, 2)));
  CHECK(differ(x, scaled(x, -1)));
  CHECK(differ(x, normal(2)));
  CHECK_FALSE(differ(scaled(x, 1e-9f), scaled(normal(2), 1e-9f), 1e-6));
  CHECK_FALSE(differ(Tensor::zeros(DType::float32, {3}), Tensor::zeros(DType::float32, {3})));
  CHECK_FALSE(differ(Tensor::empty(DType::float32, {0}), Tensor::empty(DType::float32, {0})));
}

TEST_CASE("elements that change places do not stay unseen") {
  const Tensor x = normal(1);
  Tensor y = x.copy();
  std::reverse(y.data<float>(), y.data<float>() + y.elements());
  CHECK(differ(x, y));
}

TEST_CASE("NaN is gross unless both have it") {
  const Tensor x = normal(1);
  Tensor y = x.copy();
  y.data<float>()[17] = NAN;
  CHECK(differ(x, y));
  CHECK_FALSE(differ(y, y));
}

TEST_CASE("only real numbers on the host have a sketch") {
  CHECK_FALSE(sketch(Tensor::zeros(DType::int64, {3})));
  CHECK_FALSE(sketch(nullptr));
  const Value value = normal(1);
  CHECK(sketch(&value));
}
