// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// Fan-in and fan-out of a layer: inputs summed per output, and outputs reached per input.
struct Fans {
  std::int64_t in = 1, out = 1;
};

/// Draws the initial values of a layer's weights, or of its biases (with the layer's fans, too).
using InitialWeights = std::function<Tensor(const Shape&, Fans, RandomStream&)>;

/// Normal with variance 2 / fan-in, which preserves the size of activations.
/// Source: He et al., "Delving Deep into Rectifiers" (2015), section 2.2.
[[nodiscard]] Tensor he_fan_in(const Shape& shape, Fans fans, RandomStream& random);
/// Normal with variance 2 / fan-out, which preserves the size of gradients. Source: the same.
[[nodiscard]] Tensor he_fan_out(const Shape& shape, Fans fans, RandomStream& random);
/// Uniform in +-sqrt(6 / (fan-in + fan-out)).
/// Source: Glorot and Bengio, "Understanding the Difficulty of Training Deep Feedforward Neural
/// Networks" (2010).
[[nodiscard]] Tensor glorot_uniform(const Shape& shape, Fans fans, RandomStream& random);
/// Uniform in +-1 / sqrt(fan-in).
/// Source: LeCun et al., "Efficient BackProp" (1998), section 4.6, in its uniform form.
[[nodiscard]] Tensor lecun_uniform(const Shape& shape, Fans fans, RandomStream& random);

[[nodiscard]] InitialWeights constant(float value);
[[nodiscard]] InitialWeights normal(float deviation);
/// Normal, truncated at two standard deviations.
[[nodiscard]] InitialWeights truncated_normal(float deviation);
/// In +-bound.
[[nodiscard]] InitialWeights uniform(float bound);

}  // namespace d5
