// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// How random elements of a case are drawn: reals from the standard normal distribution, integers
/// from [0, 10), booleans.
struct Distribution {
  std::optional<double> bound = {};             ///< instead: all of them from [0, bound)
  std::optional<std::int64_t> most_whole = {};  ///< instead: whole numbers, from -most to most
  double scale = 1;                             ///< of normal reals
};

void fill(Tensor& tensor, const Distribution& distribution, RandomStream& random);

/// The standard deviation of input `i` with which the operator does what it does in networks. It is
/// 1 but for the weights of recurrent layers: at 1 the state of a wide layer saturates, and each
/// step doubles every rounding. They have that of LibTorch's initialization, uniform within
/// 1/sqrt(width).
[[nodiscard]] double usual_scale(const onnx::Node& node, std::size_t input, const Shape& shape);

}  // namespace d5::detail
