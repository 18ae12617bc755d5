// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// Distribution of a case's random elements. Default: reals from the standard normal distribution,
/// integers from [0, 10), booleans.
struct Distribution {
  std::optional<double> bound = {};             ///< if set: all numbers from [0, bound)
  std::optional<std::int64_t> most_whole = {};  ///< if set: integers from -most to most
  double scale = 1;                             ///< standard deviation of normal reals
};

void fill(Tensor& tensor, const Distribution& distribution, RandomStream& random);

/// A realistic standard deviation of an input. It is 1, except for the weights of recurrent layers,
/// which have that of LibTorch's initialization, uniform within 1/sqrt(width): with 1, the state of
/// a wide layer saturates, and each step doubles every rounding error.
[[nodiscard]] double usual_scale(const onnx::Node& node, std::size_t input, const Shape& shape);

}  // namespace d5::detail
