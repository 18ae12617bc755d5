// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// The Euclidean norm of a tensor's elements, summed in float64, by blocks whose order is fixed:
/// the number of threads changes no bit. Throws: TypeError for one of no real numbers.
[[nodiscard]] double norm_of(const Tensor& tensor);
/// Its square, which parts of a norm are added as.
[[nodiscard]] double sum_of_squares(const Tensor& tensor);
/// That of all gradients of a network together.
[[nodiscard]] double gradient_norm(Network& network);

}  // namespace d5
