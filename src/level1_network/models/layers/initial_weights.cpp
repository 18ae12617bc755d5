// SPDX-License-Identifier: Apache-2.0
#include "level1_network/models/layers/initial_weights.hpp"

#include <cmath>

namespace d5 {
namespace {

template <class Draw>
Tensor drawn(const Shape& shape, Draw draw) {
  Tensor result = Tensor::empty(DType::float32, shape);
  for (float& value : result.span<float>()) value = draw();
  return result;
}

Tensor drawn_uniform(const Shape& shape, float bound, RandomStream& random) {
  Tensor result = Tensor::empty(DType::float32, shape);
  random.uniform(result.span<float>());
  for (float& value : result.span<float>()) value = bound * (2 * value - 1);
  return result;
}

Tensor drawn_normal(const Shape& shape, float deviation, RandomStream& random) {
  return drawn(shape, [&] { return deviation * random.normal(); });
}

}  // namespace

Tensor he_fan_in(const Shape& shape, Fans fans, RandomStream& random) {
  return drawn_normal(shape, std::sqrt(2.0f / float(fans.in)), random);
}

Tensor he_fan_out(const Shape& shape, Fans fans, RandomStream& random) {
  return drawn_normal(shape, std::sqrt(2.0f / float(fans.out)), random);
}

Tensor glorot_uniform(const Shape& shape, Fans fans, RandomStream& random) {
  return drawn_uniform(shape, std::sqrt(6.0f / float(fans.in + fans.out)), random);
}

Tensor lecun_uniform(const Shape& shape, Fans fans, RandomStream& random) {
  return drawn_uniform(shape, 1.0f / std::sqrt(float(fans.in)), random);
}

InitialWeights constant(float value) {
  return [value](const Shape& shape, Fans, RandomStream&) {
    return drawn(shape, [value] { return value; });
  };
}

InitialWeights normal(float deviation) {
  return [deviation](const Shape& shape, Fans, RandomStream& random) {
    return drawn_normal(shape, deviation, random);
  };
}

InitialWeights truncated_normal(float deviation) {
  return [deviation](const Shape& shape, Fans, RandomStream& random) {
    return drawn(shape, [&] {
      float value = random.normal();
      while (std::abs(value) > 2) value = random.normal();
      return deviation * value;
    });
  };
}

InitialWeights uniform(float bound) {
  return [bound](const Shape& shape, Fans, RandomStream& random) {
    return drawn_uniform(shape, bound, random);
  };
}

}  // namespace d5
